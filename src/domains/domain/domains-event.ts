import type { DomainEvent } from '../../kernel/decision.ts';
import type { DnsProblem, DnsProblemCode } from './dns/problem.ts';

/** Another primary domain, or other redirects. */
export interface DomainSettingsChanged extends DomainEvent<'domain_settings_changed'> {
  readonly projectId: string;
  /** Empty where there is none. */
  readonly primary: string;
  readonly redirects: number;
}

interface OfDomain<Type extends string> extends DomainEvent<Type> {
  readonly projectId: string;
  readonly domainId: string;
}

interface OfHost<Type extends string> extends OfDomain<Type> {
  readonly host: string;
}

interface OfShare<Type extends string> extends OfHost<Type> {
  readonly shareId: string;
}

interface OfCertificate<Type extends string> extends OfDomain<Type> {
  readonly notAfter: string;
}

interface CertificateFailed extends OfDomain<'certificate_failed'> {
  readonly problem: string;
  /** How many have failed in a row. */
  readonly attempt: number;
  readonly isRenewal: boolean;
}

export interface Trouble {
  /** Empty if it is not known. */
  readonly problem: DnsProblemCode | '';
  readonly actor: DnsProblem['actor'];
  readonly fix: string;
}

export type DomainsEvent =
  | DomainSettingsChanged
  | OfHost<'domain_added'>
  | OfHost<'domain_verified'>
  | OfHost<'domain_live'>
  /** Checks have shown for an hour that visitors of a live domain do not reach the site, and then that they do again. */
  | (OfHost<'domain_unhealthy'> & Trouble)
  | OfHost<'domain_recovered'>
  /** Its certificate is there before its traffic, or cannot be served: the name is no longer proven. */
  | OfHost<'domain_prepared'>
  | OfHost<'domain_unprepared'>
  | (OfHost<'domain_removed'> & { readonly reason: string })
  /** Another account has proven the name, which this domain still waits to prove. */
  /** `wildcard`: that was proven, and covers the name. */
  | (OfHost<'domain_contested'> & { readonly wildcard?: string })
  /** A link lets somebody who is not signed in see its records and problems; it ended before its time. */
  | OfShare<'domain_shared'>
  | OfShare<'domain_share_ended'>
  | (OfDomain<'certificate_ordered'> & { readonly generation: number })
  | OfCertificate<'certificate_issued'>
  | OfCertificate<'certificate_renewed'>
  | CertificateFailed
  /** It does not come, and has come after all. `expiresAt` is empty for the first one. */
  | (OfHost<'certificate_failing'> & Trouble & { readonly expiresAt: string })
  | (OfHost<'certificate_recovered'> & { readonly expiresAt: string });
