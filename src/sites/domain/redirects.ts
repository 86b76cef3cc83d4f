import { DomainError } from '../../kernel/domain-error.ts';
import {
  redirectStatuses,
  type DomainSettings,
  type Redirect,
  type RedirectStatus,
} from './domain-settings.ts';
import { cleanName } from './hostname.ts';
import { absoluteTarget, isAbsolute } from './redirect-target.ts';
import type { SitesErrorCode } from './sites-error.ts';

/** As somebody wrote it. */
export interface DomainSettingsDraft {
  readonly primary?: string | null | undefined;
  readonly redirects: readonly {
    readonly from: string;
    readonly to: string;
    /** 308 unless said otherwise. */
    readonly status?: number | undefined;
  }[];
}

export interface ProjectHost {
  readonly host: string;
  readonly unicodeHost: string;
  readonly isLive: boolean;
}

export interface RedirectFacts {
  /** The custom domains of the project that are not removed. */
  readonly hosts: readonly ProjectHost[];
  /** Whether a redirect may lead out of the project. */
  readonly allowAbsolute: boolean;
}

/** @throws DomainError `redirect_invalid`, `redirect_unknown_domain`, `redirect_loop`, `redirect_chain` */
export const checkDomainSettings = (
  draft: DomainSettingsDraft,
  facts: RedirectFacts,
): DomainSettings => {
  const primary = draft.primary ? hostOfProject(draft.primary, facts) : undefined;
  const redirects = draft.redirects.map((one): Redirect => {
    const from = hostOfProject(one.from, facts);
    return { from, to: targetOf(one.to, facts), status: statusOf(one.status) };
  });
  const sources = redirects.map(({ from }) => from);
  const twice = sources.find((from, at) => sources.indexOf(from) !== at);
  if (twice !== undefined) throw refusal('redirect_invalid', `${twice} is redirected twice.`);
  if (primary !== undefined && sources.includes(primary)) {
    throw refusal(
      'redirect_invalid',
      `${primary} is the primary domain; it cannot lead elsewhere.`,
    );
  }
  for (const redirect of redirects) refuseDetour(redirect, redirects);
  return { primary, redirects };
};

/**
 * Why a redirect does not work for now, for its owner: visitors would only meet an error behind it.
 * @returns undefined when it works
 */
export const suspensionOf = (
  { to }: Redirect,
  hosts: readonly ProjectHost[],
): string | undefined => {
  const target = hostIn(to);
  const own = hosts.find(({ host }) => host === target);
  const isReached = own ? own.isLive : isAbsolute(to);
  return isReached ? undefined : `Suspended until ${target} is live.`;
};

/** Domains in a refusal. */
const mostNamed = 10;

const hostOfProject = (raw: string, { hosts }: RedirectFacts): string => {
  const name = cleanName(raw);
  const found = hosts.find(({ host, unicodeHost }) => name === host || name === unicodeHost);
  if (found) return found.host;
  const known = hosts.slice(0, mostNamed).map(({ host }) => host);
  const all = [...known, ...(hosts.length > mostNamed ? ['…'] : [])].join(', ') || 'it has none';
  throw refusal('redirect_unknown_domain', `"${name}" is no domain of this project: ${all}.`);
};

const targetOf = (raw: string, facts: RedirectFacts): string => {
  if (!isAbsolute(raw)) return hostOfProject(raw, facts);
  if (!facts.allowAbsolute) {
    throw refusal('redirect_unknown_domain', 'A redirect leads to a domain of this project.');
  }
  const target = absoluteTarget(raw);
  if (target !== undefined) return target;
  throw refusal(
    'redirect_invalid',
    'A redirect elsewhere leads to an address such as https://example.com/shop, without user, query or fragment.',
  );
};

const statusOf = (status = 308): RedirectStatus => {
  const known = redirectStatuses.find((one) => one === status);
  if (known) return known;
  throw refusal('redirect_invalid', `The status is one of ${redirectStatuses.join(', ')}.`);
};

/** One step at most: a visitor must not be sent on from where a redirect leads. */
const refuseDetour = ({ from, to }: Redirect, all: readonly Redirect[]): void => {
  const next = new Map(all.map((one) => [one.from, hostIn(one.to)]));
  const end = hostIn(to);
  if (end === from) throw refusal('redirect_loop', `${from} leads to itself.`);
  const passed = new Set([from]);
  for (let host: string | undefined = end; host !== undefined; host = next.get(host)) {
    if (passed.has(host)) throw refusal('redirect_loop', `From ${from} it goes round in a circle.`);
    passed.add(host);
  }
  if (next.has(end)) {
    throw refusal('redirect_chain', `${from} leads to ${end}, which leads on; lead it to the end.`);
  }
};

const hostIn = (to: string): string => (isAbsolute(to) ? new URL(to).hostname : to);

const refusal = (code: SitesErrorCode, message: string): DomainError<SitesErrorCode> =>
  new DomainError(code, message);
