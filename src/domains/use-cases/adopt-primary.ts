import { replaceSettings } from '../domain/redirects/settings.ts';
import { withFirstPrimary } from '../domain/redirects/first-primary.ts';
import { withoutGone } from '../domain/redirects/settings-without-gone.ts';
import type { DomainLive } from '../domain/domains-event.ts';
import type { DomainPorts } from '../ports.ts';

/** Makes a domain that went live the primary of its project, if it is the first; doing it twice is no error. */
export const adoptPrimary =
  ({ settings, clock }: Pick<DomainPorts, 'settings' | 'clock'>) =>
  async ({ projectId, host }: Pick<DomainLive, 'projectId' | 'host'>): Promise<void> => {
    await settings.change(projectId, (current, { accountId, hosts }) => {
      const wanted = withFirstPrimary(withoutGone(current, hosts), hosts, host);
      return replaceSettings(current, wanted, { projectId, accountId, now: clock.now() });
    });
  };
