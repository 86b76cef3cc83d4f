import * as v from 'valibot';
import type { Selectable } from 'kysely';
import {
  attentionAt,
  attentionOf,
  attentions,
  dueAt,
} from '../../../domains/domain/attachment/due-work.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isCertified } from '../../../domains/domain/attachment/domain-certificate.ts';
import { isAttached } from '../../../domains/domain/attachment/serving.ts';
import type { Schema } from '../database.ts';
import { domains } from './tables.ts';
import { storedDetails, type DomainColumn } from './custom-domain-details.ts';

export type CustomDomainRow = Selectable<Schema['domains']>;

/** Excludes the claim, which only workers write. */
export const writtenColumns = domains.without('claim', 'claimedUntil');
export type WrittenDomainRow = Omit<CustomDomainRow, 'claim' | 'claimed_until'>;

export const customDomainRow = (domain: CustomDomain): WrittenDomainRow => {
  const {
    id,
    accountId,
    projectId,
    host,
    unicodeHost,
    token,
    state,
    generation,
    addedAt,
    ...details
  } = domain;
  return writtenColumns.write({
    id,
    accountId,
    projectId,
    host,
    unicodeHost,
    token,
    state,
    generation,
    addedAt,
    attachedHost: isAttached(domain) ? host : undefined,
    provenHost: isCertified(domain) ? host : undefined,
    details: JSON.stringify(details),
    attention: attentions.indexOf(attentionOf(domain)),
    attentionAt: attentionAt(domain),
    dueAt: dueAt(domain),
  });
};

/** @throws Error when the row is corrupt */
export const customDomainFrom = (row: CustomDomainRow): CustomDomain => {
  const columns = identity.read(row);
  const details: unknown = JSON.parse(row.details);
  switch (columns.state) {
    case 'added':
      return { ...columns, state: 'added', ...v.parse(storedDetails.added, details) };
    case 'verified':
      return { ...columns, state: 'verified', ...v.parse(storedDetails.verified, details) };
    case 'live':
      return { ...columns, state: 'live', ...v.parse(storedDetails.live, details) };
    case 'removed':
      return { ...columns, state: 'removed', ...v.parse(storedDetails.removed, details) };
  }
};

const identity: { readonly read: (row: CustomDomainRow) => Pick<CustomDomain, DomainColumn> } =
  writtenColumns.without(
    'attachedHost',
    'provenHost',
    'details',
    'attention',
    'attentionAt',
    'dueAt',
  );
