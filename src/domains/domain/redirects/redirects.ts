import {
  redirectStatuses,
  type DomainSettings,
  type Redirect,
  type RedirectStatus,
} from './settings.ts';
import type { ProjectHost } from '../attachment/serving.ts';
import { cleanName, shownHost } from '../names/hostname.ts';
import { refuseDetour } from './detours.ts';
import { absoluteTarget, hostIn, isAbsolute, longestAddress } from './target.ts';
import { refusal } from '../domains-error.ts';

/** As the owner wrote it. */
export interface DomainSettingsDraft {
  readonly primary?: string | null | undefined;
  readonly redirects: readonly {
    readonly from: string;
    readonly to: string;
    /** 308 unless said otherwise. */
    readonly status?: number | undefined;
  }[];
}

export interface RedirectFacts {
  /** The custom domains of the project that are not removed. */
  readonly hosts: readonly ProjectHost[];
}

/** @throws DomainError `redirect_invalid`, `redirect_unknown_domain`, `redirect_loop`, `redirect_chain` */
export const checkDomainSettings = (
  draft: DomainSettingsDraft,
  facts: RedirectFacts,
): DomainSettings => {
  const primary = draft.primary ? hostOfProject(draft.primary, facts) : undefined;
  const redirects = draft.redirects.map((one): Redirect => {
    const from = hostOfProject(one.from, facts);
    return { from, to: redirectTarget(one.to, facts), status: statusOf(one.status) };
  });
  const sources = redirects.map(({ from }) => from);
  const twice = sources.find((from, at) => sources.indexOf(from) !== at);
  if (twice !== undefined) {
    throw refusal('redirect_invalid', `${nameIn(facts)(twice)} is redirected more than once.`);
  }
  if (primary !== undefined && sources.includes(primary)) {
    throw refusal(
      'redirect_invalid',
      `${nameIn(facts)(primary)} is the primary domain; it cannot be redirected.`,
    );
  }
  for (const redirect of redirects) refuseDetour(redirect, redirects, nameIn(facts));
  return { primary, redirects };
};

/**
 * Why a redirect is suspended, for its owner: its target would only show visitors an error.
 * @returns undefined when it works
 */
export const suspensionOf = (
  { to }: Redirect,
  hosts: readonly ProjectHost[],
): string | undefined => {
  const target = hostIn(to);
  const own = hosts.find(({ host }) => host === target);
  const isReached = own ? own.isServed : isAbsolute(to);
  return isReached ? undefined : `Suspended until ${target} is live.`;
};

/** Domains in a refusal. */
const mostNamed = 10;

const hostOfProject = (raw: string, { hosts }: RedirectFacts): string => {
  if (raw.length > longestAddress) throw refusal('redirect_invalid', tooLong);
  const name = cleanName(raw);
  const found = hosts.find(({ host, unicodeHost }) => name === host || name === unicodeHost);
  if (found) return found.host;
  const known = hosts.slice(0, mostNamed).map(shownName);
  const all = [...known, ...(hosts.length > mostNamed ? ['…'] : [])].join(', ');
  throw refusal(
    'redirect_unknown_domain',
    `"${name}" is not a domain of this project. Its domains: ${all || 'none'}.`,
  );
};

/** How people read the name of a host: with the U-labels that it was added with. */
const nameIn =
  ({ hosts }: RedirectFacts) =>
  (host: string): string => {
    const known = hosts.find((one) => one.host === host);
    return known ? shownName(known) : host;
  };

const shownName = ({ host, unicodeHost: unicode }: ProjectHost): string =>
  shownHost({ host, unicode });

const tooLong = `A domain or an address has at most ${longestAddress} characters.`;

const redirectTarget = (raw: string, facts: RedirectFacts): string => {
  if (raw.length > longestAddress) throw refusal('redirect_invalid', tooLong);
  if (!isAbsolute(raw)) return hostOfProject(raw, facts);
  const target = absoluteTarget(raw);
  if (target !== undefined) return target;
  throw refusal(
    'redirect_invalid',
    'A target outside this project must be a URL such as https://example.com/shop, without user, query or fragment.',
  );
};

const statusOf = (status = 308): RedirectStatus => {
  const known = redirectStatuses.find((one) => one === status);
  if (known) return known;
  throw refusal(
    'redirect_invalid',
    `The status of a redirect must be one of ${redirectStatuses.join(', ')}.`,
  );
};
