import { exportDomainSettings, type DomainSettingsDocument } from '../domain/domain-settings.ts';
import {
  checkDomainSettings,
  suspensionOf,
  type DomainSettingsDraft,
  type ProjectHost,
} from '../domain/redirects.ts';
import type { DomainPorts } from '../domain-ports.ts';

type Ports = Pick<DomainPorts, 'settings' | 'domains'>;

export interface DomainSettingsView {
  readonly document: DomainSettingsDocument;
  /** Redirects that do not work for now, by where they come from, and why. */
  readonly suspended: Readonly<Record<string, string>>;
}

export const showDomainSettings =
  ({ settings, domains }: Ports) =>
  async (projectId: string): Promise<DomainSettingsView> => {
    const current = await settings.read(projectId);
    const hosts: readonly ProjectHost[] = (await domains.list(projectId))
      .filter(({ state }) => state !== 'removed')
      .map(({ host, unicodeHost, state }) => ({ host, unicodeHost, isLive: state === 'live' }));
    const reasons = current.redirects.map(
      (redirect) => [redirect.from, suspensionOf(redirect, hosts)] as const,
    );
    return {
      document: exportDomainSettings(current),
      suspended: Object.fromEntries(
        reasons.flatMap(([from, reason]) => (reason === undefined ? [] : [[from, reason]])),
      ),
    };
  };

/**
 * Replaces the settings by what somebody wrote; the edges follow within a second.
 * @throws DomainError `redirect_invalid`, `redirect_unknown_domain`, `redirect_loop`, `redirect_chain`
 */
export const changeDomainSettings =
  (ports: Ports) =>
  async (projectId: string, draft: DomainSettingsDraft): Promise<DomainSettingsView> => {
    await ports.settings.change(projectId, (_, hosts) =>
      checkDomainSettings(draft, { hosts, allowAbsolute: true }),
    );
    return showDomainSettings(ports)(projectId);
  };
