import {
  type CustomDomain,
  type DomainDraft,
  addsWindowMs,
} from '../domain/attachment/custom-domain.ts';
import { DomainError } from '../../kernel/decision.ts';
import { addDomains, type Pair } from '../domain/redirects/pair.ts';
import { otherOfPair, parseHostname, type Hostname } from '../domain/names/hostname.ts';
import type { DomainPorts } from '../ports.ts';
import { moment } from './tend-domain.ts';

type Ports = Pick<
  DomainPorts,
  'domains' | 'allowances' | 'hostNames' | 'naming' | 'ids' | 'clock' | 'chance'
>;

type AddedDomains = Pair<CustomDomain>;

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
  async (project: AttachingProject, name: string): Promise<CustomDomain> =>
    (await add(ports, project, { typed: parseHostname(name, ...rules(ports)) })).typed;

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
 * Also adds the `www` name of a registrable domain, or vice versa, with a redirect to the typed name.
 * @throws like `addCustomDomain`
 */
export const addDomainPair =
  (ports: Ports) =>
  async (project: AttachingProject, name: string): Promise<AddedDomains> => {
    const typed = parseHostname(name, ...rules(ports));
    return add(ports, project, { typed, other: otherOfPair(typed, ...rules(ports)) });
  };

const add = async (
  ports: Ports,
  project: AttachingProject,
  { typed, other }: Pair<Hostname>,
): Promise<AddedDomains> => {
  const { accountId, id: projectId } = project;
  const allowance = await ports.allowances.of(accountId);
  const now = moment(ports);
  // Domains with the same time are listed by descending id, so the typed one gets the last id.
  const second = other && draftOf(ports, project, other);
  const drafts = { typed: draftOf(ports, project, typed), other: second };
  const hosts = { typed: typed.host, other: other?.host };
  const addedSince = new Date(now.now.getTime() - addsWindowMs);
  const added = await ports.domains.add({ accountId, projectId, hosts, addedSince }, (facts) =>
    addDomains(drafts, { ...facts, allowance }, now),
  );
  return { typed: added.typed.state, other: added.other?.state };
};

const rules = ({ hostNames, naming }: Pick<Ports, 'hostNames' | 'naming'>) =>
  [(one: string) => hostNames.read(one), naming] as const;

const draftOf = (
  { ids }: Ports,
  { accountId, id: projectId }: AttachingProject,
  hostname: Hostname,
): DomainDraft => {
  return { id: ids.next('dom'), accountId, projectId, token: tokenFrom(ids.next('t')), hostname };
};

/** DNS labels cannot contain underscores. */
const tokenFrom = (id: string): string => id.replaceAll('_', '-').toLowerCase();
