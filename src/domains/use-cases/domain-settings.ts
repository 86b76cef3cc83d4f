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
  /** Nobody has chosen: the first domain that serves the site becomes the primary one. */
  readonly isPrimaryOpen: boolean;
  /** Redirects that do not work for now, by where they come from, and why. */
  readonly suspended: Readonly<Record<string, string>>;
}

export interface DomainRole {
  readonly isPrimary: boolean;
  /** Where visitors of it are sent now; undefined while they get the site, or nothing. */
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

/**
 * Replaces the settings with the owner's draft; the edges follow within a second.
 * @throws DomainError `redirect_invalid`, `redirect_unknown_domain`, `redirect_loop`, `redirect_chain`
 */
export const changeDomainSettings =
  (ports: Ports) =>
  (projectId: string, draft: DomainSettingsDraft): Promise<DomainSettingsView> =>
    editDomainSettings(ports)(projectId, ({ primary }) => ({
      ...draft,
      // Leaving it out takes away the one there is, and otherwise decides nothing.
      primary: draft.primary ?? (primary === undefined ? draft.primary : null),
    }));

/**
 * Edits the current settings under a lock, so that two simultaneous edits do not undo each other.
 * @param edit receives the settings without entries for removed domains
 * @throws DomainError as `changeDomainSettings` does
 */
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

/**
 * @param primary none if it is `null` or empty
 * @throws DomainError as `changeDomainSettings` does
 */
export const choosePrimary =
  (ports: Ports) =>
  (projectId: string, primary: string | null): Promise<DomainSettingsView> =>
    editDomainSettings(ports)(projectId, (settings, facts) =>
      withPrimary(settings, primary, facts),
    );

/** After a domain went live or was removed: the project has its first one as the primary, unless somebody chose. */
export const adoptPrimary =
  ({ settings, clock }: Pick<DomainPorts, 'settings' | 'clock'>) =>
  async (projectId: string): Promise<void> => {
    const adopted = settings.change(projectId, (current, { accountId, hosts }) => {
      const known = withoutGone(current, hosts);
      const wanted = withFirstPrimary(known, hosts);
      // Without a new primary, redirects of removed domains stay for when these are added again.
      if (wanted === known) return { state: current, events: [] };
      return replaceSettings(current, wanted, { projectId, accountId, now: clock.now() });
    });
    await adopted.catch(unlessGone);
  };
