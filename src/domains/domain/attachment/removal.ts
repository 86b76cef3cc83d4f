import { DomainError } from '../../../kernel/domain-error.ts';
import { noCertificate } from '../certificates/standing.ts';
import {
  about,
  coreOf,
  unchanged,
  type CustomDomain,
  type DomainDecision,
  type RemovalReason,
} from './custom-domain.ts';
import { shownHost } from '../names/hostname.ts';
import type { SitesErrorCode } from '../../../sites/domain/sites-error.ts';

/**
 * Stops serving the domain. Removing twice is no error and keeps the first reason. Its target is never reused, but the
 * owner should delete its DNS record.
 */
export const removeDomain = (
  domain: CustomDomain,
  reason: RemovalReason,
  now: Date,
): DomainDecision => {
  if (domain.state === 'removed') return unchanged(domain);
  const dns = { ...domain.dns, nextCheckAt: undefined };
  const left = { ...coreOf(domain), dns, certificate: { ...noCertificate } };
  const { host } = domain;
  return {
    state: { ...left, state: 'removed', removedAt: now, reason },
    events: [{ type: 'domain_removed', ...about(domain, now), host, reason }],
  };
};

/**
 * Another account proved the name, so its holder loses it.
 * @throws DomainError `domain_taken` when the claimant did not prove it by the TXT record
 */
export const contestedBy = (
  holder: CustomDomain,
  claimant: CustomDomain,
  now: Date,
): DomainDecision => {
  if (holder.id === claimant.id || holder.host !== claimant.host) return unchanged(holder);
  if (holder.state === 'added' || holder.state === 'removed') return unchanged(holder);
  if (claimant.state !== 'verified' || !claimant.dns.report?.ownershipProven) {
    throw new DomainError<SitesErrorCode>(
      'domain_taken',
      `${shownHost({ host: holder.host, unicode: holder.unicodeHost })} is in use. Create the TXT record to prove that it is yours.`,
    );
  }
  return removeDomain(holder, 'contested', now);
};
