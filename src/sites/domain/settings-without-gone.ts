import type { ProjectHost } from './domain-serving.ts';
import type { DomainSettings } from './domain-settings.ts';
import { isAbsolute } from './redirect-target.ts';

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
