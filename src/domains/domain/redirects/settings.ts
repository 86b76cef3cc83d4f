import type { Decision } from '../../../kernel/decision.ts';
import type { ProjectHost } from '../attachment/serving.ts';
import type { DomainSettingsChanged, DomainsEvent } from '../domains-event.ts';
import { isAbsolute } from './target.ts';

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
  readonly primary: string | undefined;
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
  const { primary = '', redirects } = wanted;
  const told = { occurredAt: now, primary, redirects: redirects.length };
  return { state: wanted, events: [{ type: 'domain_settings_changed', ...whose, ...told }] };
};

/**
 * The settings without entries for removed domains. These have no effect, but would make every change fail validation.
 */
export const withoutGone = (
  { primary, redirects }: DomainSettings,
  hosts: readonly Pick<ProjectHost, 'host'>[],
): DomainSettings => {
  const known = new Set(hosts.map(({ host }) => host));
  return {
    primary: primary !== undefined && known.has(primary) ? primary : undefined,
    redirects: redirects.filter(
      ({ from, to }) => known.has(from) && (isAbsolute(to) || known.has(to)),
    ),
  };
};

/**
 * The first live domain of a project becomes its primary, unless the owner chose one. A redirect source never does,
 * because it shows no site.
 * @param host the host that went live
 */
export const withFirstPrimary = (
  settings: DomainSettings,
  hosts: readonly ProjectHost[],
  host: string,
): DomainSettings => {
  const sources = new Set(settings.redirects.map(({ from }) => from));
  const serving = hosts.filter((one) => one.isServed && !sources.has(one.host));
  const isFirst = serving.length === 1 && serving[0]?.host === host;
  return settings.primary === undefined && isFirst ? { ...settings, primary: host } : settings;
};

/** As it is exported and imported, in YAML and JSON. */
export interface DomainSettingsDocument {
  readonly domains: {
    readonly primary: string | null;
    readonly redirects: readonly Redirect[];
  };
}

export const exportDomainSettings = ({
  primary,
  redirects,
}: DomainSettings): DomainSettingsDocument => ({
  domains: {
    primary: primary ?? null,
    redirects: redirects.map(({ from, to, status }) => ({ from, to, status })),
  },
});

const isSame = (one: DomainSettings, other: DomainSettings): boolean =>
  JSON.stringify(exportDomainSettings(one)) === JSON.stringify(exportDomainSettings(other));
