import { unlessGone } from './follow-project.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { isOpen, projectHostsOf } from '../domain/attachment/serving.ts';
import {
  exportDomainSettings,
  replaceSettings,
  withFirstPrimary,
  withoutGone,
  type DomainSettings,
  type DomainSettingsDocument,
} from '../domain/redirects/settings.ts';
import {
  checkDomainSettings,
  suspensionOf,
  withPrimary,
  type DomainSettingsDraft,
  type RedirectFacts,
} from '../domain/redirects/redirects.ts';
import type { DomainPorts } from '../ports.ts';

type Reading = Pick<DomainPorts, 'settings' | 'domains'>;
type Ports = Reading & Pick<DomainPorts, 'clock'>;

export interface DomainSettingsView {
  readonly document: DomainSettingsDocument;
  readonly isPrimaryOpen: boolean;
  readonly suspended: Readonly<Record<string, string>>;
}

export interface DomainRole {
  readonly isPrimary: boolean;
  readonly redirectsTo: string | undefined;
}

export const roleOf = (
  { document: { domains }, suspended }: DomainSettingsView,
  domain: CustomDomain,
): DomainRole => {
  const { host } = domain;
  const isActive = isOpen(domain) && suspended[host] === undefined;
  return {
    isPrimary: domains.primary === host,
    redirectsTo: isActive ? domains.redirects.find(({ from }) => from === host)?.to : undefined,
  };
};

/** @param known the project's domains, if the caller has just read them */
export const showDomainSettings =
  ({ settings, domains }: Reading) =>
  async (projectId: string, known?: readonly CustomDomain[]): Promise<DomainSettingsView> => {
    const current = await settings.read(projectId);
    const hosts = projectHostsOf(known ?? (await domains.list(projectId)));
    const reasons = current.redirects.map(
      (redirect) => [redirect.from, suspensionOf(redirect, hosts, current.redirects)] as const,
    );
    return {
      document: exportDomainSettings(current),
      isPrimaryOpen: withoutGone(current, hosts).primary === undefined,
      suspended: Object.fromEntries(
        reasons.flatMap(([from, reason]) => (reason === undefined ? [] : [[from, reason]])),
      ),
    };
  };

/** Edges follow within a second. @throws DomainError `redirect_invalid`, `redirect_unknown_domain`, …`loop`, …`chain` */
export const changeDomainSettings =
  (ports: Ports) =>
  (projectId: string, draft: DomainSettingsDraft): Promise<DomainSettingsView> =>
    editDomainSettings(ports)(projectId, ({ primary }) => ({
      ...draft,
      primary: draft.primary ?? (primary === undefined ? draft.primary : null),
    }));

/** @param edit gets the settings without entries of removed domains @throws DomainError like `changeDomainSettings` */
export const editDomainSettings =
  (ports: Ports) =>
  async (
    projectId: string,
    edit: (settings: DomainSettings, facts: RedirectFacts) => DomainSettingsDraft,
  ): Promise<DomainSettingsView> => {
    const { settings, clock } = ports;
    await settings.change(projectId, (current, { accountId, hosts }) => {
      const draft = edit(withoutGone(current, hosts), { hosts });
      const wanted = withFirstPrimary(checkDomainSettings(draft, { hosts }), hosts);
      return replaceSettings(current, wanted, { projectId, accountId, now: clock.now() });
    });
    return showDomainSettings(ports)(projectId);
  };

/** @param primary `null` or empty for none @throws DomainError like `changeDomainSettings` */
export const choosePrimary =
  (ports: Ports) =>
  (projectId: string, primary: string | null): Promise<DomainSettingsView> =>
    editDomainSettings(ports)(projectId, (settings, facts) =>
      withPrimary(settings, primary, facts),
    );

/** Chooses the first live domain as the primary, unless the owner has chosen. A removed primary loses its place. */
export const adoptPrimary =
  ({ settings, clock }: Pick<DomainPorts, 'settings' | 'clock'>) =>
  async (projectId: string): Promise<void> => {
    const adopted = settings.change(projectId, (current, { accountId, hosts }) => {
      const { primary } = withFirstPrimary(withoutGone(current, hosts), hosts);
      const wanted = { ...current, primary };
      return replaceSettings(current, wanted, { projectId, accountId, now: clock.now() });
    });
    await adopted.catch(unlessGone);
  };
