import type { Selectable } from 'kysely';
import { isCertified } from '../../../domains/domain/certificates/plan.ts';
import type { CertificateStanding } from '../../../domains/domain/certificates/standing.ts';
import {
  customDomainStates,
  removalReasons,
  type CustomDomain,
} from '../../../domains/domain/attachment/custom-domain.ts';
import { dueAt } from '../../../domains/domain/attachment/schedule.ts';
import { isAttached } from '../../../domains/domain/attachment/serving.ts';
import { fromDatedJson, toDatedJson } from '../dated-json.ts';
import { fromMillis, oneOf, toMillis, toMillisOrNull, type Schema } from '../schema.ts';

export type CustomDomainRow = Selectable<Schema['domains']>;

/** Fields without their own column, because nothing searches or sorts by them. */
type Details = Pick<CustomDomain, 'registrableDomain' | 'isApex' | 'dns'> & {
  readonly certificate: StoredStanding;
  readonly since: Date;
  readonly reason: string | undefined;
  /** Of one that is live. */
  readonly verifiedAt?: Date | undefined;
};

/** Stored with an `order` record, which earlier releases expect. */
type StoredStanding = Omit<CertificateStanding, 'isOrdered'> & {
  readonly order?: Readonly<Record<string, unknown>> | undefined;
};

const storedStanding = ({ isOrdered, ...standing }: CertificateStanding): StoredStanding =>
  isOrdered ? { ...standing, order: {} } : standing;

const standingFrom = ({ order, ...standing }: StoredStanding): CertificateStanding => ({
  ...standing,
  isOrdered: order !== undefined,
});

export const customDomainRow = (
  domain: CustomDomain,
): Omit<CustomDomainRow, 'claim' | 'claimed_until'> => {
  const { id, accountId, projectId, host, unicodeHost, token, state, generation, addedAt } = domain;
  const { registrableDomain, isApex, dns, certificate } = domain;
  const reason = state === 'removed' ? domain.reason : undefined;
  const since = sinceOf(domain);
  const verifiedAt = state === 'live' ? domain.verifiedAt : undefined;
  const standing = { dns, certificate: storedStanding(certificate), since, reason, verifiedAt };
  const details: Details = { registrableDomain, isApex, ...standing };
  return {
    ...{ id, account_id: accountId, project_id: projectId, host, unicode_host: unicodeHost },
    attached_host: isAttached(domain) ? host : null,
    proven_host: isCertified(domain) ? host : null,
    ...{ token, state, generation: BigInt(generation), added_at: toMillis(addedAt) },
    details: toDatedJson(details),
    due_at: toMillisOrNull(dueAt(domain)),
  };
};

export const customDomainFrom = (row: CustomDomainRow): CustomDomain => {
  const { since, reason, verifiedAt, certificate, ...details } = fromDatedJson(
    row.details,
  ) as Details;
  const shared = {
    id: row.id,
    accountId: row.account_id,
    projectId: row.project_id,
    host: row.host,
    unicodeHost: row.unicode_host,
    token: row.token,
    generation: Number(row.generation),
    addedAt: fromMillis(row.added_at),
    ...details,
    certificate: standingFrom(certificate),
  };
  const state = oneOf(customDomainStates, row.state);
  switch (state) {
    case 'added':
      return { ...shared, state };
    case 'verified':
      return { ...shared, state, verifiedAt: since };
    case 'live':
      return { ...shared, state, liveSince: since, verifiedAt: verifiedAt ?? since };
    case 'removed':
      return { ...shared, state, removedAt: since, reason: oneOf(removalReasons, reason ?? '') };
  }
};

/** When it entered its state. */
export const sinceOf = (domain: CustomDomain): Date => {
  switch (domain.state) {
    case 'added':
      return domain.addedAt;
    case 'verified':
      return domain.verifiedAt;
    case 'live':
      return domain.liveSince;
    case 'removed':
      return domain.removedAt;
  }
};
