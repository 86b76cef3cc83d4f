import { endShare, shareDomain, type DomainShare } from '../domain/attachment/share.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { shareUnknown } from '../domain/domains-error.ts';
import type { DomainPorts } from '../ports.ts';
import { describeDomain, type DescribedDomain, type DescribePorts } from './show-domain.ts';

type SharePorts = Pick<DomainPorts, 'shares' | 'linkSecrets' | 'clock' | 'ids'>;

/** A link with its secret, which is never available again. */
export interface MadeShare extends DomainShare {
  readonly secret: string;
}

/** @throws DomainError `domain_not_found`, `domain_wrong_state`, `share_limit_reached` */
export const makeShare =
  ({ shares, linkSecrets, clock, ids }: SharePorts) =>
  async (domain: CustomDomain): Promise<MadeShare> => {
    const [secret, id, now] = [linkSecrets.next(), ids.next('share'), clock.now()];
    const draft = { id, secretHash: linkSecrets.hash(secret), now };
    const { added } = await shares.change(domain, now, (one, open) =>
      shareDomain(one, open, draft),
    );
    return { ...added.share, secret };
  };

/** Ending one that has ended is no error. @throws DomainError `domain_not_found` */
export const revokeShare =
  ({ shares, clock }: SharePorts) =>
  async (domain: CustomDomain, id: string): Promise<void> => {
    const now = clock.now();
    await shares.change(domain, now, (one, open) => endShare(one, open, { id, now }));
  };

/** What somebody with a link may see. */
export interface SharedDomain extends DescribedDomain {
  readonly share: DomainShare;
}

/** @throws DomainError `share_unknown`: the same for every link that does not work */
export const showShared =
  (ports: SharePorts & DescribePorts) =>
  async (secret: string): Promise<SharedDomain> => {
    const { shares, linkSecrets, domains, clock } = ports;
    const share = await shares.find(linkSecrets.hash(secret), clock.now());
    const domain = share && (await domains.get(share.domainId));
    if (!domain) throw shareUnknown();
    return { ...(await describeDomain(ports)(domain)), share };
  };
