import type { ProjectHost } from '../attachment/serving.ts';
import type { DomainSettingsChanged, DomainsEvent } from '../domains-event.ts';
import { isWildcard } from '../names/hostname.ts';
import type { Decision } from '../../../kernel/decision.ts';

/** Whether it is meant as an address rather than a host: then only http and https will do. */
export const isAbsolute = (to: string): boolean => /^[a-z][a-z0-9+.-]*:|^[/\\]/i.test(to.trim());

/** The host that a redirect leads to. @param to as it is kept */
export const hostIn = (to: string): string => (isAbsolute(to) ? new URL(to).hostname : to);

/** Characters. */
export const longestAddress = 1000;

/** @returns the address as stored, or undefined if a redirect may not lead there */
export const absoluteTarget = (raw: string): string | undefined => {
  if (raw.length > longestAddress) return undefined;
  const text = raw.trim();
  // Browsers also take `https:example.com` and control characters; a person would misread both.
  if (!/^https?:\/\/[^/\\\s]+/i.test(text) || /[\s\\\p{Cc}]/u.test(text)) return undefined;
  const url = URL.parse(text);
  if (!url || url.username || url.password || /[?#]/.test(text)) return undefined;
  // With a dot at the end the DNS sees the same host, but string comparison does not.
  url.hostname = url.hostname.replace(/\.$/, '');
  if (url.hostname.split('.').includes('')) return undefined;
  return url.pathname === '/' ? url.origin : url.href;
};

/**
 * Where a redirect sends a visitor, with path and query kept.
 * @param path as it was requested, beginning with a slash
 * @param query without the question mark; '' for none
 */
export const redirectTarget = (to: string, path: string, query: string): string => {
  const base = isAbsolute(to) ? to.replace(/\/$/, '') : `https://${to}`;
  // Without the slash, the path could extend the host name.
  const rooted = path.startsWith('/') ? path : `/${path}`;
  return `${base}${rooted}${query === '' ? '' : `?${query}`}`;
};

/** 308 and 307 keep the method of the request, 301 and 302 may turn it into GET. */
export const redirectStatuses = [301, 302, 307, 308] as const;
export type RedirectStatus = (typeof redirectStatuses)[number];

export interface Redirect {
  readonly from: string;
  /** Another host of the project, or an absolute address elsewhere. */
  readonly to: string;
  readonly status: RedirectStatus;
}

/** What the owner decides about the hosts of a project. */
export interface DomainSettings {
  /** `null`: the owner wants none. `undefined`: nobody has chosen, and no domain serves the site yet. */
  readonly primary: string | null | undefined;
  readonly redirects: readonly Redirect[];
}

export const noDomainSettings: DomainSettings = { primary: undefined, redirects: [] };

/** Replaces the current settings. Emits no event if they are equal. */
export const replaceSettings = (
  current: DomainSettings,
  wanted: DomainSettings,
  { now, ...whose }: Pick<DomainSettingsChanged, 'projectId' | 'accountId'> & { now: Date },
): Decision<DomainSettings, DomainsEvent> => {
  if (isSame(current, wanted)) return { state: current, events: [] };
  const { primary, redirects } = wanted;
  const told = { occurredAt: now, primary: primary ?? '', redirects: redirects.length };
  return { state: wanted, events: [{ type: 'domain_settings_changed', ...whose, ...told }] };
};

/**
 * The settings without entries for removed domains. These have no effect, but would make every change fail validation.
 * The choice of a primary ends with its domain.
 */
export const withoutGone = (
  { primary, redirects }: DomainSettings,
  hosts: readonly Pick<ProjectHost, 'host'>[],
): DomainSettings => {
  const known = new Set(hosts.map(({ host }) => host));
  return {
    primary: primary === null || known.has(primary ?? '') ? primary : undefined,
    redirects: redirects.filter(
      ({ from, to }) => known.has(from) && (isAbsolute(to) || known.has(to)),
    ),
  };
};

/**
 * The domain that became live first is the primary as long as nobody chose one. A redirect source never is, because it
 * shows no site, nor a wildcard, which nobody can visit. Depends on the facts alone, so it does not matter which of several processes asks first, or how often.
 * @param hosts the oldest first
 */
export const withFirstPrimary = (
  settings: DomainSettings,
  hosts: readonly ProjectHost[],
): DomainSettings => {
  if (settings.primary !== undefined) return settings;
  const sources = new Set(settings.redirects.map(({ from }) => from));
  const [first] = hosts
    .filter(({ host, liveSince }) => liveSince && !sources.has(host) && !isWildcard(host))
    .toSorted((one, other) => liveTime(one) - liveTime(other));
  return first ? { ...settings, primary: first.host } : settings;
};

const liveTime = ({ liveSince }: ProjectHost): number => liveSince?.getTime() ?? Infinity;

/** As it is exported and imported, in YAML and JSON. */
export interface DomainSettingsDocument {
  readonly domains: {
    /** Left out while nobody has chosen, so that importing an export decides nothing. */
    readonly primary?: string | null;
    readonly redirects: readonly Redirect[];
  };
}

export const exportDomainSettings = ({
  primary,
  redirects,
}: DomainSettings): DomainSettingsDocument => ({
  domains: {
    ...(primary !== undefined && { primary }),
    redirects: redirects.map(({ from, to, status }) => ({ from, to, status })),
  },
});

const isSame = (one: DomainSettings, other: DomainSettings): boolean =>
  JSON.stringify(exportDomainSettings(one)) === JSON.stringify(exportDomainSettings(other));
