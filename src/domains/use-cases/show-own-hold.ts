import type { Hold } from '../domain/certificates/ca-budget.ts';
import { unknownOwnName } from '../domain/own/own-name.ts';
import { pairOf, servesHosts } from '../domain/own/platform.ts';
import type { DomainPorts } from '../ports.ts';
import { authoritiesOf, type AuthorityPorts } from './authorities.ts';
import { ownHold, ownHost, taskFor, type OwnProject } from './own-host.ts';

type ShowPorts = AuthorityPorts &
  Pick<
    DomainPorts,
    | 'hostNames'
    | 'naming'
    | 'certificates'
    | 'ledger'
    | 'orders'
    | 'clock'
    | 'ownNames'
    | 'hasPlatformFiles'
  >;

/** @returns what the certificate of a project's own host waits for; undefined when it has one, or needs none */
export const showOwnHold =
  (ports: ShowPorts) =>
  async (project: OwnProject): Promise<Hold | undefined> => {
    const { ownNames, certificates, naming, hasPlatformFiles, clock } = ports;
    if (project.servedDeployId === undefined || hasPlatformFiles) return undefined;
    const own = ownHost(ports, project);
    const { host } = own.name;
    const pair = await ownNames.find(pairOf(naming.platformHost).host);
    if (servesHosts(pair, clock.now()) || (await certificates.find(host))) return undefined;
    const known = (await ownNames.find(host)) ?? unknownOwnName(host, undefined);
    const mayIssue = authoritiesOf(ports).map(({ name }) => name);
    const task = taskFor(ports, { own, known, mayIssue });
    return ownHold(ports, task);
  };
