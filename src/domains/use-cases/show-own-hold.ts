import { mayOrder, type Hold } from '../domain/certificates/ca-budget.ts';
import { hostOf } from '../domain/certificates/certificate.ts';
import type { Site } from '../../sites/domain/site.ts';
import type { DomainPorts } from '../ports.ts';
import { ownSubject } from './secure-own-host.ts';

type Ports = Pick<
  DomainPorts,
  'certificates' | 'hostNames' | 'ledger' | 'naming' | 'orders' | 'clock'
>;

/** @returns what the certificate of a project's own host waits for; undefined when it has one, or needs none yet */
export const showOwnHold =
  ({ certificates, hostNames, ledger, naming, orders, clock }: Ports) =>
  async ({ project, servedDeployId }: Site): Promise<Hold | undefined> => {
    const host = hostOf(project.slug, naming.platformHost);
    if (servedDeployId === undefined || (await certificates.find(host))) return undefined;
    const now = clock.now();
    const { registrableDomain = host } = hostNames.read(host);
    const use = await ledger.use({ ...project, host, registrableDomain }, now);
    const isOrdered = (await orders.find(ownSubject(host)))?.url !== undefined;
    const verdict = mayOrder(use, { isManual: false, kind: isOrdered ? 'counted' : 'own' }, now);
    return verdict.allowed ? undefined : { reason: verdict.reason, nextAt: verdict.nextAt };
  };
