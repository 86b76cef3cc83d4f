import type { ProjectHost } from '../attachment/serving.ts';
import type { DomainSettings } from './settings.ts';

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
