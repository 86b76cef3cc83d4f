import { addDomain, type CustomDomain } from '../domain/attachment/custom-domain.ts';
import { addsWindowMs } from '../domain/attachment/admission.ts';
import { parseHostname } from '../domain/names/hostname.ts';
import type { DomainPorts } from '../ports.ts';
import { moment } from './moment.ts';

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
 * @param name as the owner typed it
 * @throws DomainError with a `DomainNameProblem`; `plan_upgrade_required`, `no_successful_deploy`, `domain_taken`,
 *   `domain_limit_reached`, `domains_added_too_fast`
 */
export const addCustomDomain =
  (ports: Ports) =>
  async ({ accountId, id: projectId }: AttachingProject, name: string): Promise<CustomDomain> => {
    const { domains, allowances, hostNames, ids, naming } = ports;
    const hostname = parseHostname(name, (one) => hostNames.read(one), naming);
    const allowance = await allowances.of(accountId);
    const now = moment(ports);
    const draft = { id: ids.next('dom'), accountId, projectId, token: tokenFrom(ids.next('t')) };
    const addedSince = new Date(now.now.getTime() - addsWindowMs);
    const wanted = { accountId, projectId, host: hostname.host, addedSince };
    return domains.add(wanted, (facts) =>
      addDomain({ ...draft, hostname }, { ...facts, allowance }, now),
    );
  };

/** A DNS label: ids have an underscore in them. */
const tokenFrom = (id: string): string => id.replaceAll('_', '-').toLowerCase();
