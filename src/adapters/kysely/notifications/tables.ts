import { deliveryStates, failedWhys } from '../../../notifications/domain/webhook-delivery.ts';
import { offReasons } from '../../../notifications/domain/webhook.ts';
import { assigned, flag, int, maybe, text, time, word, table } from '../table.ts';

export const notices = table({
  id: assigned,
  eventId: text,
  accountId: text,
  kind: text,
  about: text,
  occurredAt: time,
});

export const mails = table({
  id: text,
  accountId: text,
  personId: text,
  address: text,
  kind: text,
  subject: maybe(text),
  /** Sealed until the mail is sent or given up, then deleted. */
  facts: maybe(text),
  sealedBy: maybe(text),
  occurredAt: time,
  /** Id of the message's first mail. */
  message: text,
  sendAt: time,
  attempts: int,
  /** Time of the next attempt, or the end of the claim. */
  dueAt: maybe(time),
  claim: maybe(text),
  endedAt: maybe(time),
  ending: maybe(word(['sent', 'refused', 'given_up', 'left_out'] as const)),
  problem: maybe(text),
  /** The mail is not sent after this time. */
  until: time,
});

export const mailChoices = table({ personId: text, kindOff: text });

export const mailTroubles = table({ personId: text, since: time, reason: text });

export const webhooks = table({
  id: text,
  accountId: text,
  address: text,
  kinds: text,
  createdAt: time,
  oldSecretsUntil: maybe(time),
  state: word(['on', 'off'] as const),
  failingSince: maybe(time),
  failedAt: maybe(time),
  isSlow: maybe(flag),
  reason: maybe(word(offReasons)),
  offSince: maybe(time),
  secrets: text,
  sealedBy: text,
});

export const webhookDeliveries = table({
  id: text,
  webhookId: text,
  accountId: text,
  messageId: text,
  type: text,
  body: text,
  addedAt: time,
  /** When the delivery was added or repeated. */
  begunAt: time,
  failures: int,
  state: word(deliveryStates),
  /** Time of the next attempt, or the end of the claim. */
  nextAt: maybe(time),
  receiver: text,
  isSlow: flag,
  claim: maybe(text),
});

export const webhookAttempts = table({
  id: assigned,
  deliveryId: text,
  at: time,
  tookMs: int,
  status: maybe(int),
  why: maybe(word(failedWhys)),
  /** The beginning of the answer, or the reason for a missing answer. */
  answer: text,
});
