import type { DomainSettings } from './domain-settings.ts';
import type { ProjectHost } from './redirects.ts';

/**
 * The first domain of a project that goes live is its primary, as long as nobody chose one. A redirect source is none:
 * it shows no site.
 * @param host went live
 */
export const withFirstPrimary = (
  settings: DomainSettings,
  hosts: readonly ProjectHost[],
  host: string,
): DomainSettings => {
  const sources = new Set(settings.redirects.map(({ from }) => from));
  const serving = hosts.filter((one) => one.isLive && !sources.has(one.host));
  const isFirst = serving.length === 1 && serving[0]?.host === host;
  return settings.primary === undefined && isFirst ? { ...settings, primary: host } : settings;
};
