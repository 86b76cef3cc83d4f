import { isCertified } from './plan.ts';
import {
  removeDomain,
  unchanged,
  type CustomDomain,
  type DomainDecision,
} from './custom-domain.ts';
import { shownHost } from '../names/hostname.ts';
import { domainTaken } from '../domains-error.ts';

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
  if (!isCertified(holder)) return unchanged(holder);
  if (claimant.state !== 'verified' || !claimant.dns.report?.ownershipProven) {
    throw domainTaken(shownHost({ host: holder.host, unicode: holder.unicodeHost }));
  }
  return removeDomain(holder, 'contested', now);
};
