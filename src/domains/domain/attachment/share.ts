import { isAttached } from './serving.ts';
import { about, refuseMove, type CustomDomain } from './custom-domain.ts';
import { refusal } from '../domains-error.ts';
import type { DomainsEvent } from '../domains-event.ts';
import { dayMs } from '../../../kernel/durations.ts';

/** A link that shows one domain without signing in. Only a hash of its secret is stored. */
export interface DomainShare {
  readonly id: string;
  readonly accountId: string;
  readonly domainId: string;
  readonly createdAt: Date;
  readonly endsAt: Date;
}

export const shareDays = 30;
export const mostShares = 5;

export interface ShareChange {
  readonly added?: { readonly share: DomainShare; readonly secretHash: string };
  readonly ended?: string;
  readonly events: readonly DomainsEvent[];
}

interface ShareDraft {
  readonly id: string;
  readonly secretHash: string;
}

export const shareDomain = (
  domain: CustomDomain,
  open: readonly DomainShare[],
  { id, secretHash, now }: ShareDraft & { readonly now: Date },
): ShareChange & Required<Pick<ShareChange, 'added'>> => {
  if (!isAttached(domain)) return refuseMove(domain, 'added');
  if (open.length >= mostShares) {
    throw refusal(
      'share_limit_reached',
      `${domain.host} has ${mostShares} links already. Revoke one first.`,
    );
  }
  const { accountId, id: domainId, host } = domain;
  const endsAt = new Date(now.getTime() + shareDays * dayMs);
  const share = { id, accountId, domainId, createdAt: now, endsAt };
  const event = { type: 'domain_shared', ...about(domain, now), host, shareId: id } as const;
  return { added: { share, secretHash }, events: [event] };
};

export const endShare = (
  domain: CustomDomain,
  open: readonly DomainShare[],
  { id, now }: { readonly id: string; readonly now: Date },
): ShareChange => {
  if (!open.some((one) => one.id === id)) return { events: [] };
  const { host } = domain;
  const event = { type: 'domain_share_ended', ...about(domain, now), host, shareId: id } as const;
  return { ended: id, events: [event] };
};
