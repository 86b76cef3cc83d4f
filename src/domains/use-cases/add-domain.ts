import {
  addDomain,
  type CustomDomain,
  type DomainDraft,
  type Moment,
} from '../domain/attachment/custom-domain.ts';
import { addsWindowMs } from '../domain/attachment/admission.ts';
import { DomainError } from '../../kernel/decision.ts';
import { addPair } from '../domain/redirects/pair.ts';
import { otherOfPair, parseHostname, type Hostname } from '../domain/names/hostname.ts';
import type { DomainPorts } from '../ports.ts';
import { moment } from './tend-domain.ts';

type Ports = Pick<
  DomainPorts,
  'domains' | 'allowances' | 'hostNames' | 'naming' | 'ids' | 'clock' | 'chance'
>;

export interface AttachingProject {
  readonly id: string;
  readonly accountId: string;
}

/**
 * Asks neither DNS nor an authority.
 * @param name as typed
 * @throws DomainError with a `DomainNameProblem`; `plan_upgrade_required`, `no_successful_deploy`, `domain_taken`,
 * `domain_limit_reached`, `domains_added_too_fast`
 */
export const addCustomDomain =
  (ports: Ports) =>
  async (project: AttachingProject, name: string): Promise<CustomDomain> => {
    const hostname = parseHostname(name, ...rules(ports));
    return addOne(ports, project, hostname);
  };

/** The other name of a pair; undefined if there is none. */
export const showOther =
  (ports: Pick<Ports, 'hostNames' | 'naming'>) =>
  (name: string): Hostname | undefined => {
    try {
      return otherOfPair(parseHostname(name, ...rules(ports)), ...rules(ports));
    } catch (error) {
      if (error instanceof DomainError) return undefined;
      throw error;
    }
  };

/**
 * Adds a registrable domain and its `www` name, and redirects the other one to the typed one; both or neither.
 * Other names are added alone.
 * @throws DomainError like `addCustomDomain`
 */
export const addDomainPair =
  (ports: Ports) =>
  async (
    project: AttachingProject,
    name: string,
  ): Promise<{ readonly typed: CustomDomain; readonly other: CustomDomain | undefined }> => {
    const hostname = parseHostname(name, ...rules(ports));
    const second = otherOfPair(hostname, ...rules(ports));
    if (!second) return { typed: await addOne(ports, project, hostname), other: undefined };
    const allowance = await ports.allowances.of(project.accountId);
    const now = moment(ports);
    // Domains with the same time are listed by descending id, so the typed one gets the last id.
    const other = draftOf(ports, project, second);
    const drafts = { typed: draftOf(ports, project, hostname), other };
    const hosts = { typed: hostname.host, other: second.host };
    const added = await ports.domains.addPair({ ...wantedBy(project, now), hosts }, (facts) =>
      addPair(
        drafts,
        {
          ...facts,
          typed: { ...facts.typed, allowance },
          other: { ...facts.other, allowance },
        },
        now,
      ),
    );
    return { typed: added.typed.state, other: added.other.state };
  };

const addOne = async (
  ports: Ports,
  project: AttachingProject,
  hostname: Hostname,
): Promise<CustomDomain> => {
  const allowance = await ports.allowances.of(project.accountId);
  const now = moment(ports);
  const draft = draftOf(ports, project, hostname);
  return ports.domains.add({ ...wantedBy(project, now), host: hostname.host }, (facts) =>
    addDomain(draft, { ...facts, allowance }, now),
  );
};

const rules = ({ hostNames, naming }: Pick<Ports, 'hostNames' | 'naming'>) =>
  [(one: string) => hostNames.read(one), naming] as const;

const wantedBy = ({ accountId, id: projectId }: AttachingProject, { now }: Moment) => ({
  accountId,
  projectId,
  addedSince: new Date(now.getTime() - addsWindowMs),
});

const draftOf = (
  { ids }: Ports,
  { accountId, id: projectId }: AttachingProject,
  hostname: Hostname,
): DomainDraft => {
  return { id: ids.next('dom'), accountId, projectId, token: tokenFrom(ids.next('t')), hostname };
};

/** DNS labels cannot contain underscores. */
const tokenFrom = (id: string): string => id.replaceAll('_', '-').toLowerCase();
