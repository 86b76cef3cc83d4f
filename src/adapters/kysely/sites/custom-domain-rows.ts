import type { Selectable } from 'kysely';
import * as v from 'valibot';
import { isCertified } from '../../../domains/domain/attachment/plan.ts';
import {
  customDomainStates,
  type CustomDomain,
} from '../../../domains/domain/attachment/custom-domain.ts';
import { dueAt } from '../../../domains/domain/attachment/schedule.ts';
import { isAttached } from '../../../domains/domain/attachment/serving.ts';
import { storedDetails, type DomainColumn } from './custom-domain-details.ts';
import { storedField } from './stored-problem.ts';
import { oneOf } from '../column.ts';
import { fromMillis, toMillis, toMillisOrNull, type Schema } from '../schema.ts';

export type CustomDomainRow = Selectable<Schema['domains']>;

/** Without the claim, which only workers write. */
export type WrittenDomainRow = Omit<CustomDomainRow, 'claim' | 'claimed_until'>;

/** All fields without a column are written to the details. */
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
    ...rest
  } = domain;
  return {
    ...{ id, account_id: accountId, project_id: projectId, host, unicode_host: unicodeHost },
    attached_host: isAttached(domain) ? host : null,
    proven_host: isCertified(domain) ? host : null,
    ...{ token, state, generation: BigInt(generation), added_at: toMillis(addedAt) },
    details: JSON.stringify(rest, storedField),
    due_at: toMillisOrNull(dueAt(domain)),
  };
};

/** @throws Error when the row is corrupt */
export const customDomainFrom = (row: CustomDomainRow): CustomDomain => {
  const columns = columnsFrom(row);
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

const columnsFrom = (row: CustomDomainRow): Pick<CustomDomain, DomainColumn> => ({
  id: row.id,
  accountId: row.account_id,
  projectId: row.project_id,
  host: row.host,
  unicodeHost: row.unicode_host,
  token: row.token,
  state: oneOf(customDomainStates, row.state),
  generation: Number(row.generation),
  addedAt: fromMillis(row.added_at),
});
