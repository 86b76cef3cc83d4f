import * as v from 'valibot';
import { ownersKinds } from '../../../notifications/domain/kinds.ts';
import type {
  WebhookSecret,
  Webhook,
  WebhookStatus,
} from '../../../notifications/domain/webhook.ts';
import { date, parseStored, perhaps, present, type Entries } from '../column.ts';
import { webhooks } from './tables.ts';

const plain = webhooks.without('secrets', 'sealedBy');
type PlainRow = Parameters<typeof plain.read>[0];
type StatusColumns = Pick<ReturnType<typeof plain.read>, 'state' | keyof typeof blank>;

export const webhookFrom = (row: PlainRow): Webhook => {
  const { id, accountId, address, createdAt, oldSecretsUntil, ...rest } = plain.read(row);
  const kinds = kindsFrom(rest.kinds);
  return { id, accountId, address, createdAt, oldSecretsUntil, kinds, status: statusFrom(rest) };
};

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

const statusFrom = ({
  state,
  failingSince,
  failedAt,
  isSlow,
  reason,
  offSince,
}: StatusColumns): WebhookStatus => {
  switch (state) {
    case 'on':
      return { state, failingSince, failedAt, isSlow: present('is_slow', isSlow) };
    case 'off':
      return {
        state,
        reason: present('reason', reason),
        offSince: present('off_since', offSince),
      };
  }
};

const blank = {
  failingSince: undefined,
  failedAt: undefined,
  isSlow: undefined,
  reason: undefined,
  offSince: undefined,
};

export const webhookRow = ({ status, kinds, ...webhook }: Webhook): PlainRow =>
  plain.write({ ...webhook, kinds: JSON.stringify(kinds), ...blank, ...status });

/** How the secrets are read from JSON. */
export const storedSecrets = v.array(
  v.object({ secret: v.string(), endsAt: perhaps(date) } satisfies Entries<WebhookSecret>),
);
