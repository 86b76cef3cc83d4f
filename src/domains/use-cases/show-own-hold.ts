import type { Hold } from '../domain/certificates/ca-budget.ts';
import { hostOf } from '../domain/certificates/certificate.ts';
import type { Site } from '../../sites/domain/site.ts';
import type { DomainPorts } from '../ports.ts';
import { ownHold } from './secure-own-host.ts';

type Ports = Pick<
  DomainPorts,
  'certificates' | 'hostNames' | 'ledger' | 'naming' | 'orders' | 'clock'
>;

/** @returns what the certificate of a project's own host waits for; undefined when it has one, or needs none yet */
export const showOwnHold = (ports: Ports) => {
  const { certificates, hostNames, naming } = ports;
  const holdOf = ownHold(ports);
  return async ({ project, servedDeployId }: Site): Promise<Hold | undefined> => {
    const host = hostOf(project.slug, naming.platformHost);
    if (servedDeployId === undefined || (await certificates.find(host))) return undefined;
    const { registrableDomain = host } = hostNames.read(host);
    return holdOf({ name: { ...project, host, registrableDomain }, kind: 'own' });
  };
};
