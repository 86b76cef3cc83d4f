import type { Selectable } from 'kysely';
import * as v from 'valibot';
import { ownersKinds } from '../../../notifications/domain/kinds.ts';
import { givenUpReasons } from '../../../notifications/domain/notification.ts';
import type { WebhookSecret } from '../../../notifications/domain/webhooks/secrets.ts';
import type { OffReason } from '../../../notifications/domain/webhooks/webhook-event.ts';
import type { Webhook, WebhookStatus } from '../../../notifications/domain/webhooks/webhook.ts';
import { oneOf, parseStored, perhaps, present, type Entries } from '../column.ts';
import {
  fromMillis,
  fromMillisOrNull,
  toMillis,
  toMillisOrNull,
  type RowOf,
  type Schema,
} from '../schema.ts';

type Row = Selectable<Schema['webhooks']>;
type PlainRow = Omit<Row, 'secrets' | 'sealed_by'>;
type On = Extract<WebhookStatus, { state: 'on' }>;
type Off = Extract<WebhookStatus, { state: 'off' }>;

const offReasons: readonly OffReason[] = [...givenUpReasons, 'by_hand'];

export const webhookFrom = (row: PlainRow): Webhook => ({
  id: row.id,
  accountId: row.account_id,
  address: row.address,
  kinds: kindsFrom(row.kinds),
  createdAt: fromMillis(row.created_at),
  oldSecretsUntil: fromMillisOrNull(row.old_secrets_until),
  status: statusFrom(row),
});

/** Without kinds of newer versions. */
const kindsFrom = (stored: string): Webhook['kinds'] => {
  const words = parseStored(v.array(v.string()), stored);
  return ownersKinds.filter((kind) => words.includes(kind));
};

/** With kinds of newer versions that the row has: an older process that still runs during an upgrade keeps them. */
export const kindsColumn = (stored: string, kinds: Webhook['kinds']): string => {
  const words = parseStored(v.array(v.string()), stored);
  return JSON.stringify([...kinds, ...words.filter((word) => !isOwnersKind(word))]);
};

const isOwnersKind = (word: string): boolean => ownersKinds.some((kind) => kind === word);

const statusFrom = (row: PlainRow): WebhookStatus => {
  const state = oneOf<WebhookStatus['state']>(['on', 'off'], row.state);
  switch (state) {
    case 'on':
      return {
        state,
        failingSince: fromMillisOrNull(row.failing_since),
        failedAt: fromMillisOrNull(row.failed_at),
        isSlow: present('is_slow', row.is_slow) === 1n,
      };
    case 'off':
      return {
        state,
        reason: oneOf(offReasons, present('reason', row.reason)),
        offSince: fromMillis(present('off_since', row.off_since)),
      };
  }
};

const blank = {
  failing_since: null,
  failed_at: null,
  is_slow: null,
  reason: null,
  off_since: null,
};

export const webhookRow = ({ status, ...webhook }: Webhook): PlainRow => ({
  ...({
    id: webhook.id,
    account_id: webhook.accountId,
    address: webhook.address,
    kinds: JSON.stringify(webhook.kinds),
    created_at: toMillis(webhook.createdAt),
    old_secrets_until: toMillisOrNull(webhook.oldSecretsUntil),
  } satisfies Record<keyof RowOf<typeof webhook>, unknown>),
  ...blank,
  ...statusColumns(status),
});

const statusColumns = (status: WebhookStatus) => {
  switch (status.state) {
    case 'on':
      return {
        state: status.state,
        failing_since: toMillisOrNull(status.failingSince),
        failed_at: toMillisOrNull(status.failedAt),
        is_slow: status.isSlow ? 1n : 0n,
      } satisfies Record<keyof RowOf<On>, unknown>;
    case 'off':
      return {
        state: status.state,
        reason: status.reason,
        off_since: toMillis(status.offSince),
      } satisfies RowOf<Off>;
  }
};

const date = v.pipe(
  v.string(),
  v.transform((text) => new Date(text)),
  v.date(),
);

/** How the secrets are read from JSON. */
export const storedSecrets = v.array(
  v.object({ secret: v.string(), endsAt: perhaps(date) } satisfies Entries<WebhookSecret>),
);
