import type { DomainEvent } from '../../kernel/decision.ts';
import type { DnsProblem, DnsProblemCode } from './dns/problem.ts';

export interface DomainSettingsChanged extends DomainEvent<'domain_settings_changed'> {
  readonly projectId: string;
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
  readonly attempt: number;
  readonly isRenewal: boolean;
}

export interface Trouble {
  readonly problem: DnsProblemCode | '';
  readonly actor: DnsProblem['actor'];
  readonly fix: string;
}

export type DomainsEvent =
  | DomainSettingsChanged
  | OfHost<'domain_added'>
  | OfHost<'domain_verified'>
  | OfHost<'domain_live'>
  | (OfHost<'domain_unhealthy'> & Trouble)
  | OfHost<'domain_recovered'>
  | OfHost<'domain_prepared'>
  | OfHost<'domain_unprepared'>
  | (OfHost<'domain_removed'> & { readonly reason: string })
  /** Another account has proven the name that this domain waits to prove. */
  /** `wildcard`: the proven name that covers it. */
  | (OfHost<'domain_contested'> & { readonly wildcard?: string })
  | OfShare<'domain_shared'>
  | OfShare<'domain_share_ended'>
  | (OfDomain<'certificate_ordered'> & { readonly generation: number })
  | OfCertificate<'certificate_issued'>
  | OfCertificate<'certificate_renewed'>
  | CertificateFailed
  /**
   * The first means that no certificate comes, the second that it came after all. `expiresAt` is empty for
   * a first certificate.
   */
  | (OfHost<'certificate_failing'> & Trouble & { readonly expiresAt: string })
  | (OfHost<'certificate_recovered'> & { readonly expiresAt: string });
