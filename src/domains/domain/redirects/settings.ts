import type { ProjectHost } from '../attachment/serving.ts';
import type { DomainSettingsChanged, DomainsEvent } from '../domains-event.ts';
import { isWildcard } from '../names/hostname.ts';
import type { Decision } from '../../../kernel/decision.ts';

export const isAbsolute = (to: string): boolean => /^[a-z][a-z0-9+.-]*:|^[/\\]/i.test(to.trim());

export const hostIn = (to: string): string => (isAbsolute(to) ? new URL(to).hostname : to);

export const longestAddress = 1000;

export const absoluteTarget = (raw: string): string | undefined => {
  if (raw.length > longestAddress) return undefined;
  const text = raw.trim();
  if (!/^https?:\/\/[^/\\\s]+/i.test(text) || /[\s\\\p{Cc}]/u.test(text)) return undefined;
  const url = URL.parse(text);
  if (!url || url.username || url.password || /[?#]/.test(text)) return undefined;
  // The DNS ignores a final dot, but string comparison does not.
  url.hostname = url.hostname.replace(/\.$/, '');
  if (url.hostname.split('.').includes('')) return undefined;
  return url.pathname === '/' ? url.origin : url.href;
};

/** Keeps path and query. @param path with a leading slash @param query without `?`; may be empty */
export const redirectTarget = (to: string, path: string, query: string): string => {
  const base = isAbsolute(to) ? to.replace(/\/$/, '') : `https://${to}`;
  // Without the slash, the path could extend the host name.
  const rooted = path.startsWith('/') ? path : `/${path}`;
  return `${base}${rooted}${query === '' ? '' : `?${query}`}`;
};

/** 308 and 307 keep the request method; 301 and 302 may change it to GET. */
export const redirectStatuses = [301, 302, 307, 308] as const;
export type RedirectStatus = (typeof redirectStatuses)[number];

export interface Redirect {
  readonly from: string;
  readonly to: string;
  readonly status: RedirectStatus;
}

export interface DomainSettings {
  /** `null`: the owner wants none. `undefined`: nobody has chosen, and no domain serves the site yet. */
  readonly primary: string | null | undefined;
  readonly redirects: readonly Redirect[];
}

export const noDomainSettings: DomainSettings = { primary: undefined, redirects: [] };

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

/** Drops entries of removed domains, which would fail validation. A removed primary is undecided again. */
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

/** Until the owner chooses, the domain that went live first. @param hosts the oldest first */
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

export interface DomainSettingsDocument {
  readonly domains: {
    /** Missing while nobody has chosen, so that an import does not decide. */
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
