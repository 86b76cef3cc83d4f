import { chooseAuthority } from '../domain/certificates/authorities.ts';
import { choiceOf, type CertificateWork } from '../domain/certificates/certificate-work.ts';
import type { CertificateAuthority } from '../certificate-ports.ts';
import type { DomainPorts } from '../ports.ts';

export type AuthorityPorts = Pick<DomainPorts, 'authority' | 'secondAuthority'>;

/** The preferred one first. */
export const authoritiesOf = ({
  authority,
  secondAuthority,
}: AuthorityPorts): readonly CertificateAuthority[] =>
  secondAuthority ? [authority, secondAuthority] : [authority];

/** @returns undefined for one that is no longer in the settings */
export const authorityNamed = (
  ports: AuthorityPorts,
  name: string,
): CertificateAuthority | undefined => authoritiesOf(ports).find((one) => one.name === name);

/** The one that the next attempt goes to. */
export const authorityFor = (
  ports: AuthorityPorts,
  work: CertificateWork | undefined,
  now: Date,
): CertificateAuthority => {
  const name = work && chooseAuthority(choiceOf(work), now);
  return (name === undefined ? undefined : authorityNamed(ports, name)) ?? ports.authority;
};
