import type { Hold } from '../domain/certificates/ca-budget.ts';
import { hostOf } from '../domain/certificates/certificate.ts';
import type { DomainPorts } from '../ports.ts';
import { ownHold } from './secure-own-host.ts';

type Ports = Pick<
  DomainPorts,
  'certificates' | 'hostNames' | 'ledger' | 'naming' | 'orders' | 'clock'
>;

/** A project with a host of its own below the platform's. */
export interface OwnProject {
  readonly accountId: string;
  readonly slug: string;
  readonly servedDeployId: string | undefined;
}

/** @returns what the certificate of a project's own host waits for; undefined when it has one, or needs none yet */
export const showOwnHold = (ports: Ports) => {
  const { certificates, hostNames, naming } = ports;
  const holdOf = ownHold(ports);
  return async (project: OwnProject): Promise<Hold | undefined> => {
    const host = hostOf(project.slug, naming.platformHost);
    if (project.servedDeployId === undefined || (await certificates.find(host))) return undefined;
    const { registrableDomain = host } = hostNames.read(host);
    return holdOf({ name: { accountId: project.accountId, host, registrableDomain }, kind: 'own' });
  };
};
