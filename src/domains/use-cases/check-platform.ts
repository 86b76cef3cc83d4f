import { type Issuers, judgeIssuers } from '../domain/dns/caa.ts';
import { judgeDelegation, methodsFor, type ValidationMethod } from '../domain/dns/validation.ts';
import { agreementOf } from '../domain/dns/problem.ts';
import { delegationNameOf, delegationTarget } from '../domain/dns/records.ts';
import {
  coversHosts,
  type Ending,
  endingOf,
  ownDueAt,
  pairOf,
  platformLabel,
} from '../domain/own/own-name.ts';
import type { DomainPorts } from '../ports.ts';
import { authoritiesOf, type AuthorityPorts } from './advance-order.ts';
import { policyOf } from './tend-domain.ts';

type Ports = AuthorityPorts & Pick<DomainPorts, 'dns' | 'naming' | 'ownNames' | 'clock'>;

export interface PlatformStatus {
  readonly record: { readonly name: string; readonly value: string } | undefined;
  readonly delegation: PlatformDns['delegation'] | undefined;
  readonly forbiddenBy: string | undefined;
  readonly certificate:
    { readonly notAfter: Date; readonly issuedBy: string; readonly ending: Ending } | undefined;
  readonly isEnough: boolean;
  readonly failure: { readonly detail: string; readonly nextAt: Date } | undefined;
}

/** Reads the DNS and the stored state. Changes nothing and asks no authority. */
export const checkPlatform = (ports: Ports) => async (): Promise<PlatformStatus> => {
  const { naming, ownNames, clock } = ports;
  const record = platformRecord(ports);
  const [pair, dns] = await Promise.all([
    ownNames.find(pairOf(naming.platformHost).host),
    record && lookAtPlatform(ports),
  ]);
  const certificate = pair?.certificate.kind === 'issued' ? pair.certificate : undefined;
  const problem = pair?.certificate.work.problem;
  return {
    record,
    delegation: dns?.delegation,
    forbiddenBy: dns && forbidding(dns),
    certificate: certificate && {
      notAfter: certificate.notAfter,
      issuedBy: certificate.issuedBy,
      ending: endingOf(certificate, clock.now()),
    },
    isEnough: coversHosts(pair, clock.now()),
    failure: pair && problem && { detail: problem.seen, nextAt: ownDueAt(pair) },
  };
};

const forbidding = ({ pair: { issuance } }: PlatformDns): string | undefined =>
  agreementOf(issuance) === 'wrong'
    ? issuance.find(({ kind }) => kind === 'wrong')?.seen
    : undefined;

type LookPorts = AuthorityPorts & Pick<DomainPorts, 'dns' | 'naming'>;

export interface PlatformDns {
  readonly delegation: 'right' | 'wrong' | 'unknown';
  readonly pair: Issuers;
  readonly hosts: Issuers;
}

const platformRecord = ({ naming: { platformHost, acmeDnsZone } }: Pick<LookPorts, 'naming'>) =>
  acmeDnsZone === undefined
    ? undefined
    : {
        name: delegationNameOf(platformHost),
        value: delegationTarget(platformLabel, acmeDnsZone),
      };

export const lookAtPlatform = async (ports: LookPorts): Promise<PlatformDns> => {
  const { platformHost: host, acmeDnsZone } = ports.naming;
  const facts = await ports.dns.inspect(host);
  const seen = facts.resolvers.map((one) =>
    judgeDelegation(one, { host, token: platformLabel, acmeDnsZone }),
  );
  const policies = await Promise.all(authoritiesOf(ports).map((one) => policyOf(one, host)));
  const by = (method: ValidationMethod, isWildcard = false) =>
    judgeIssuers(
      facts,
      policies.map((policy) => ({ ...policy, method, isWildcard })),
    );
  const [ofPair] = methodsFor({ host: pairOf(host).host, isDelegated: true });
  const [ofHosts] = methodsFor({ host, isDelegated: false });
  const pair = bothOf(by(ofPair), by(ofPair, true));
  return { delegation: agreementOf(seen), pair, hosts: by(ofHosts) };
};

/** CAA may differ for the wildcard. */
const bothOf = (plain: Issuers, wildcard: Issuers): Issuers => ({
  issuance: (plain.mayIssue.length > 0 ? wildcard : plain).issuance,
  mayIssue: plain.mayIssue.filter((name) => wildcard.mayIssue.includes(name)),
});
