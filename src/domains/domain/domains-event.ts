import type { DomainEvent } from '../../kernel/domain-event.ts';

/** Another primary domain, or other redirects. */
export interface DomainSettingsChanged extends DomainEvent<'domain_settings_changed'> {
  readonly projectId: string;
  /** Empty where there is none. */
  readonly primary: string;
  /** How many there are now. */
  readonly redirects: number;
}

interface OfDomain<Type extends string> extends DomainEvent<Type> {
  readonly projectId: string;
  readonly domainId: string;
}

interface OfHost<Type extends string> extends OfDomain<Type> {
  readonly host: string;
}

interface OfCertificate<Type extends string> extends OfDomain<Type> {
  readonly notAfter: string;
}

/** It is served from now on. */
export type DomainLive = OfHost<'domain_live'>;

interface CertificateFailed extends OfDomain<'certificate_failed'> {
  readonly problem: string;
  /** How many have failed in a row. */
  readonly attempt: number;
  readonly isRenewal: boolean;
}

export type DomainsEvent =
  | DomainSettingsChanged
  | OfHost<'domain_added'>
  | OfHost<'domain_verified'>
  | DomainLive
  /** Nothing of it is served any more. */
  | (OfHost<'domain_removed'> & { readonly reason: string })
  | (OfDomain<'certificate_ordered'> & { readonly generation: number })
  | OfCertificate<'certificate_issued'>
  | OfCertificate<'certificate_renewed'>
  | CertificateFailed;
