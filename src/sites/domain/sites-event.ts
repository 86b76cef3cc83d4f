import type { DomainEvent } from '../../kernel/domain-event.ts';

export interface ProjectCreated extends DomainEvent<'project_created'> {
  readonly projectId: string;
  readonly slug: string;
}

export interface DeploySucceeded extends DomainEvent<'deploy_succeeded'> {
  readonly projectId: string;
  readonly deployId: string;
  readonly number: number;
}

export interface DeployFailed extends DomainEvent<'deploy_failed'> {
  readonly projectId: string;
  readonly deployId: string;
  readonly number: number;
  readonly problem: string;
}

/** An older deploy is served again. */
interface SiteRolledBack extends DomainEvent<'site_rolled_back'> {
  readonly projectId: string;
  readonly deployId: string;
  readonly number: number;
}

/** A deploy was deleted for good; its files are no longer needed. */
export interface DeployDiscarded extends DomainEvent<'deploy_discarded'> {
  readonly projectId: string;
  readonly deployId: string;
}

/** Its owner deleted a deploy, which made room. */
export interface DeployDeleted extends DomainEvent<'deploy_deleted'> {
  readonly projectId: string;
  readonly deployId: string;
  readonly number: number;
}

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

export type SitesEvent =
  | ProjectCreated
  | DeploySucceeded
  | DeployFailed
  | SiteRolledBack
  | DeployDiscarded
  | DeployDeleted
  | DomainSettingsChanged
  | DomainAdded
  | DomainVerified
  | DomainLive
  | DomainRemoved
  | CertificateOrdered
  | CertificateIssued
  | CertificateRenewed
  | CertificateFailed;
