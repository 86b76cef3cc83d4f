import type { AuthorityFailureReason } from '../../../domains/domain/certificates/order.ts';
import type { RemovalReason } from '../../../domains/domain/attachment/custom-domain.ts';

export const removalWords: Readonly<Record<RemovalReason, string>> = {
  owner: 'Removed by your account',
  contested: 'Removed: another account proved that it owns the name',
  expired: 'Removed: it was not verified within 30 days',
};

/** Why the authority did not issue. */
export const failureWords: Readonly<Partial<Record<AuthorityFailureReason, string>>> = {
  order_gone: 'the order had expired',
  rate_limited: 'the authority asks us to wait',
  unavailable: 'the authority is unavailable',
  rejected_name: 'the authority rejected the name',
  caa: 'a CAA record forbids it',
  dns: 'the DNS lookup of the authority failed',
  challenge: 'the authority could not reach the site',
} satisfies Record<AuthorityFailureReason, string>;
