import { judgeDelegation } from '../domain/dns/delegation.ts';
import { agreementOf } from '../domain/dns/findings.ts';
import { judgeIssuers, type Issuers } from '../domain/dns/issuers.ts';
import { delegationNameOf, delegationTarget } from '../domain/dns/records.ts';
import { methodsFor, type ValidationMethod } from '../domain/dns/validation.ts';
import { pairOf, platformLabel } from '../domain/own/own-name.ts';
import type { DomainPorts } from '../ports.ts';
import { authoritiesOf, type AuthorityPorts } from './authorities.ts';
import { policyOf } from './check-domain.ts';

type Ports = AuthorityPorts & Pick<DomainPorts, 'dns' | 'naming'>;

/** What the DNS says about certificates for the platform's own names. */
export interface PlatformDns {
  /** Whether the platform's challenge name leads into our zone, as most resolvers see it. */
  readonly delegation: 'right' | 'wrong' | 'unknown';
  /** Which authorities may issue for the pair, a wildcard and the name itself. */
  readonly pair: Issuers;
  /** Which authorities may issue for the host of a project. */
  readonly hosts: Issuers;
}

/** The record that delegates the platform's challenge name; undefined where there is no zone for it. */
export const platformRecord = ({ naming: { platformHost, acmeDnsZone } }: Pick<Ports, 'naming'>) =>
  acmeDnsZone === undefined
    ? undefined
    : {
        name: delegationNameOf(platformHost),
        value: delegationTarget(platformLabel, acmeDnsZone),
      };

/** Asks each resolver once; takes at most as long as the check of a domain. */
export const lookAtPlatform = async (ports: Ports): Promise<PlatformDns> => {
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

/** One of the pair is a wildcard, for which CAA may say something else. */
const bothOf = (plain: Issuers, wildcard: Issuers): Issuers => ({
  issuance: (plain.mayIssue.length > 0 ? wildcard : plain).issuance,
  mayIssue: plain.mayIssue.filter((name) => wildcard.mayIssue.includes(name)),
});
