import { agreementOf } from '../domain/dns/findings.ts';
import { coversHosts, type Ending, endingOf, ownDueAt, pairOf } from '../domain/own/own-name.ts';
import type { DomainPorts } from '../ports.ts';
import type { AuthorityPorts } from './authorities.ts';
import { lookAtPlatform, platformRecord, type PlatformDns } from './look-at-platform.ts';

type Ports = AuthorityPorts & Pick<DomainPorts, 'dns' | 'naming' | 'ownNames' | 'clock'>;

/** What there is of the certificate that we order for the platform's names. */
export interface PlatformStanding {
  /** The record that delegates its challenge name; undefined without a zone of DNS challenges. */
  readonly record: { readonly name: string; readonly value: string } | undefined;
  /** Whether the record is there; undefined where there is none to create. */
  readonly delegation: PlatformDns['delegation'] | undefined;
  /** The CAA record that forbids the certificate, as it was seen. */
  readonly forbiddenBy: string | undefined;
  readonly certificate:
    { readonly notAfter: Date; readonly issuedBy: string; readonly ending: Ending } | undefined;
  /** The hosts of projects need no certificates of their own now. */
  readonly isEnough: boolean;
  /** Why the last attempt failed, and when the next one is due. */
  readonly failure: { readonly detail: string; readonly nextAt: Date } | undefined;
}

/** Looks at the DNS and at what is stored; changes nothing, and asks no authority for anything. */
export const checkPlatform = (ports: Ports) => async (): Promise<PlatformStanding> => {
  const { naming, ownNames, clock } = ports;
  const record = platformRecord(ports);
  const [pair, dns] = await Promise.all([
    ownNames.find(pairOf(naming.platformHost).host),
    record && lookAtPlatform(ports),
  ]);
  const certificate = pair?.certificate.kind === 'issued' ? pair.certificate : undefined;
  const detail = pair?.failure;
  return {
    ...{ record, delegation: dns?.delegation, forbiddenBy: dns && forbidding(dns) },
    certificate: certificate && {
      notAfter: certificate.notAfter,
      issuedBy: certificate.issuedBy,
      ending: endingOf(certificate, clock.now()),
    },
    isEnough: coversHosts(pair, clock.now()),
    failure: pair && detail !== undefined ? { detail, nextAt: ownDueAt(pair) } : undefined,
  };
};

const forbidding = ({ pair: { issuance } }: PlatformDns): string | undefined =>
  agreementOf(issuance) === 'wrong'
    ? issuance.find(({ kind }) => kind === 'wrong')?.seen
    : undefined;
