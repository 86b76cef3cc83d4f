import type { DomainEvent } from '../../kernel/domain-event.ts';

/** Another primary domain, or other redirects. */
export interface DomainSettingsChanged extends DomainEvent<'domain_settings_changed'> {
  readonly projectId: string;
  /** Empty where there is none. */
  readonly primary: string;
  /** How many there are now. */
  readonly redirects: number;
}

interface OfDomain {
  readonly projectId: string;
  readonly domainId: string;
}

interface DomainAdded extends DomainEvent<'domain_added'>, OfDomain {
  readonly host: string;
}

interface DomainVerified extends DomainEvent<'domain_verified'>, OfDomain {
  readonly host: string;
}

/** It is served from now on. */
export interface DomainLive extends DomainEvent<'domain_live'>, OfDomain {
  readonly host: string;
}

/** Nothing of it is served any more. */
interface DomainRemoved extends DomainEvent<'domain_removed'>, OfDomain {
  readonly host: string;
  readonly reason: string;
}

interface CertificateOrdered extends DomainEvent<'certificate_ordered'>, OfDomain {
  readonly generation: number;
}

interface CertificateIssued extends DomainEvent<'certificate_issued'>, OfDomain {
  readonly notAfter: string;
}

interface CertificateRenewed extends DomainEvent<'certificate_renewed'>, OfDomain {
  readonly notAfter: string;
}

interface CertificateFailed extends DomainEvent<'certificate_failed'>, OfDomain {
  readonly problem: string;
  /** How many have failed in a row. */
  readonly attempt: number;
  readonly isRenewal: boolean;
}

export type DomainsEvent =
  | DomainSettingsChanged
  | DomainAdded
  | DomainVerified
  | DomainLive
  | DomainRemoved
  | CertificateOrdered
  | CertificateIssued
  | CertificateRenewed
  | CertificateFailed;
