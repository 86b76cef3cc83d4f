import type { ProjectHost } from '../attachment/serving.ts';
import type { DomainSettings } from './settings.ts';
import { isAbsolute } from './target.ts';

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
