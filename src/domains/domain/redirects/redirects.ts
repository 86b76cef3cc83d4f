import type { ProjectHost } from '../attachment/serving.ts';
import { refusal } from '../domains-error.ts';
import { cleanName, nameInText, isWildcard, namesFor } from '../names/hostname.ts';
import {
  type DomainSettings,
  type Redirect,
  type RedirectStatus,
  redirectStatuses,
  absoluteTarget,
  hostIn,
  isAbsolute,
  longestAddress,
} from './settings.ts';
import { DomainError } from '../../../kernel/decision.ts';

export interface DomainSettingsDraft {
  readonly primary?: string | null | undefined;
  readonly redirects: readonly {
    readonly from: string;
    readonly to: string;
    /** Default: 308. */
    readonly status?: number | undefined;
  }[];
}

export interface RedirectFacts {
  readonly hosts: readonly ProjectHost[];
}

export const checkDomainSettings = (
  draft: DomainSettingsDraft,
  facts: RedirectFacts,
): DomainSettings => {
  const primary = primaryIn(draft, facts);
  const redirects = draft.redirects.map((one): Redirect => {
    const from = hostOfProject(one.from, facts, 'from');
    return { from, to: redirectTarget(one.to, facts), status: statusOf(one.status) };
  });
  const sources = redirects.map(({ from }) => from);
  const twice = sources.find((from, at) => sources.indexOf(from) !== at);
  if (twice !== undefined) {
    throw refusal(
      'redirect_invalid',
      `${nameIn(facts)(twice)} is redirected more than once.`,
      'from',
    );
  }
  if (typeof primary === 'string' && sources.includes(primary)) {
    throw refusal(
      'redirect_invalid',
      `${nameIn(facts)(primary)} is the primary domain; it cannot be redirected.`,
      'from',
    );
  }
  const led = redirects.map((one) => ({
    ...one,
    to: domainAt(one.to, facts.hosts)?.host ?? one.to,
  }));
  for (const redirect of led) refuseDetour(redirect, led, nameIn(facts));
  return { primary, redirects };
};

/** Chooses the primary domain. If it redirects to the current one, that redirect is reversed, and others follow. */
export const withPrimary = (
  settings: DomainSettings,
  wanted: string | null,
  facts: RedirectFacts,
): DomainSettingsDraft => {
  const primary = primaryIn({ ...settings, primary: wanted }, facts) ?? null;
  const { primary: present, redirects } = settings;
  const turned = redirects.find(({ from, to }) => from === primary && to === present);
  if (!turned) return { primary, redirects };
  return {
    primary,
    redirects: redirects.map((one) =>
      one === turned
        ? { ...one, from: turned.to, to: turned.from }
        : { ...one, to: hostIn(one.to) === turned.to ? movedTo(one.to, turned.from) : one.to },
    ),
  };
};

const movedTo = (to: string, host: string): string =>
  isAbsolute(to) ? Object.assign(new URL(to), { hostname: host }).href : host;

/** Why a redirect cannot be added, for the owner. @returns undefined if it can */
export const hindranceTo = (
  redirect: DomainSettingsDraft['redirects'][number],
  settings: DomainSettingsDraft,
  facts: RedirectFacts,
): string | undefined => {
  try {
    checkDomainSettings({ ...settings, redirects: [...settings.redirects, redirect] }, facts);
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
};

const primaryIn = (
  { primary }: DomainSettingsDraft,
  facts: RedirectFacts,
): DomainSettings['primary'] => {
  if (primary === undefined) return undefined;
  return primary ? oneHostOfProject(primary, facts, 'primary') : null;
};

/** The project's domain that serves an address; an exact name takes precedence over a wildcard. */
const domainAt = (to: string, hosts: readonly ProjectHost[]): ProjectHost | undefined =>
  namesFor(hostIn(to))
    .map((name) => hosts.find(({ host }) => host === name))
    .find((one) => one !== undefined);

export const suspensionOf = (
  { from, to }: Redirect,
  hosts: readonly ProjectHost[],
  all: readonly Redirect[],
): string | undefined => {
  const target = hostIn(to);
  const own = domainAt(to, hosts);
  // If the exact name was removed, the wildcard covers it now.
  if (own?.host === from) return `Suspended: ${from} covers ${target}, so it would lead back here.`;
  if (own && own.host !== target && all.some((one) => one.from === own.host))
    return `Suspended: ${own.host} covers ${target}, and is itself redirected.`;
  const isReached = own ? own.liveSince !== undefined : isAbsolute(to);
  return isReached ? undefined : `Suspended until ${target} is live.`;
};

type Field = 'from' | 'to' | 'primary';

const mostNamed = 10;

const hostOfProject = (raw: string, { hosts }: RedirectFacts, field: Field): string => {
  if (raw.length > longestAddress) throw refusal('redirect_invalid', tooLong, field);
  const name = cleanName(raw);
  const found = hosts.find(({ host, unicodeHost }) => name === host || name === unicodeHost);
  if (found) return found.host;
  const known = hosts.slice(0, mostNamed).map(nameInText);
  const all = [...known, ...(hosts.length > mostNamed ? ['…'] : [])].join(', ');
  throw refusal(
    'redirect_unknown_domain',
    `"${name}" is not a domain of this project. Its domains: ${all || 'none'}.`,
    field,
  );
};

/** A wildcard is not a name to send visitors to. */
const oneHostOfProject = (raw: string, facts: RedirectFacts, field: Field): string => {
  const host = hostOfProject(raw, facts, field);
  if (!isWildcard(host)) return host;
  throw refusal(
    'redirect_invalid',
    `${nameIn(facts)(host)} is a wildcard, which can be redirected but cannot be a target, because it is not one name.`,
    field,
  );
};

const nameIn =
  ({ hosts }: RedirectFacts) =>
  (host: string): string => {
    const known = hosts.find((one) => one.host === host);
    return known ? nameInText(known) : host;
  };

const tooLong = `A domain or an address has at most ${longestAddress} characters.`;

const redirectTarget = (raw: string, facts: RedirectFacts): string => {
  if (raw.length > longestAddress) throw refusal('redirect_invalid', tooLong, 'to');
  if (!isAbsolute(raw)) return oneHostOfProject(raw, facts, 'to');
  const target = absoluteTarget(raw);
  if (target !== undefined) return target;
  throw refusal(
    'redirect_invalid',
    'A target outside this project must be a URL such as https://example.com/shop, without user, query or fragment.',
    'to',
  );
};

const statusOf = (status = 308): RedirectStatus => {
  const known = redirectStatuses.find((one) => one === status);
  if (known) return known;
  throw refusal(
    'redirect_invalid',
    `The status of a redirect must be one of ${redirectStatuses.join(', ')}.`,
    'status',
  );
};

const refuseDetour = (
  { from, to }: Redirect,
  all: readonly Redirect[],
  shown: (host: string) => string,
): void => {
  const next = new Map(all.map((one) => [one.from, hostIn(one.to)]));
  const target = hostIn(to);
  const [start, second] = [shown(from), shown(target)];
  if (target === from) throw refusal('redirect_loop', `${start} cannot redirect to itself.`, 'to');
  const passed = new Set([from]);
  let end = target;
  for (let host: string | undefined = target; host !== undefined; host = next.get(host)) {
    if (passed.has(host)) {
      const back = `${shown(end)} redirects back to ${shown(host)}`;
      throw refusal('redirect_loop', `The redirect of ${start} ends in a loop: ${back}.`, 'to');
    }
    passed.add(host);
    end = host;
  }
  if (end === target) return;
  throw refusal(
    'redirect_chain',
    `${second} is redirected itself. Redirect ${start} to ${shown(end)} instead.`,
    'to',
  );
};

export type Route = { readonly name: string; readonly projectId: string } & (
  | { readonly kind: 'site'; readonly deployId: string }
  | {
      readonly kind: 'redirect';
      /** A host, a label below the platform host, or an absolute URL; see `Redirect`. */
      readonly to: string;
      readonly status: number;
    }
);

export interface RoutedProject {
  readonly projectId: string;
  readonly slug: string;
  readonly formerSlugs: readonly string[];
  readonly isDeleted: boolean;
  readonly servedDeployId: string | undefined;
  readonly deploys: readonly { readonly number: number; readonly id: string }[];
  readonly hosts: readonly ProjectHost[];
  readonly withheld: readonly string[];
  readonly settings: DomainSettings;
}

export const previewName = (slug: string, number: number): string => `${slug}--${String(number)}`;

/** No slug contains `--`, and no customer's host is a single label. */
export const isPreview = (name: string): boolean => !name.includes('.') && name.includes('--');

/** A withheld name has a route without a certificate, so that edges do not use another account's wildcard. */
export const routesOf = (project: RoutedProject): readonly Route[] => {
  const { projectId, slug, servedDeployId: deployId, deploys, hosts, withheld, settings } = project;
  if (deployId === undefined || project.isDeleted) return [];
  const own: Route = { name: slug, projectId, kind: 'site', deployId };
  const served = hosts.filter(({ isServed }) => isServed).map(({ host }) => host);
  return [
    own,
    ...project.formerSlugs.map((name): Route => {
      return { name, projectId, kind: 'redirect', to: slug, status: 308 };
    }),
    ...deploys.map(({ number, id }): Route => {
      return { name: previewName(slug, number), projectId, kind: 'site', deployId: id };
    }),
    ...served.map((name): Route => {
      const redirect = settings.redirects.find(({ from }) => from === name);
      // While the redirect's target is not served, the host serves the site instead of an error.
      return redirect && suspensionOf(redirect, hosts, settings.redirects) === undefined
        ? { name, projectId, kind: 'redirect', to: redirect.to, status: redirect.status }
        : { name, projectId, kind: 'site', deployId };
    }),
    ...withheld.map((name): Route => ({ name, projectId, kind: 'site', deployId })),
  ];
};
