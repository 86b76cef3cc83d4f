import { deliveryStates, failedWhys } from '../../../notifications/domain/webhook-delivery.ts';
import { offReasons } from '../../../notifications/domain/webhook.ts';
import { assigned, flag, int, maybe, text, time, word, table } from '../table.ts';

// How the stores of this folder keep what they store.

export const notices = table({
  id: assigned,
  /** Of the event that it is about. */
  eventId: text,
  accountId: text,
  kind: text,
  /** JSON. */
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
  /** Sealed JSON, until it is sent or given up. */
  facts: maybe(text),
  sealedBy: maybe(text),
  occurredAt: time,
  /** The id of the first mail of its message. */
  message: text,
  sendAt: time,
  attempts: int,
  /** When to try it next, or when the claim ends. */
  dueAt: maybe(time),
  claim: maybe(text),
  endedAt: maybe(time),
  ending: maybe(word(['sent', 'refused', 'given_up', 'left_out'] as const)),
  problem: maybe(text),
  /** It is not sent after that. */
  until: time,
});

export const mailChoices = table({ personId: text, kindOff: text });

export const mailTroubles = table({ personId: text, since: time, reason: text });

export const webhooks = table({
  id: text,
  accountId: text,
  address: text,
  /** JSON. */
  kinds: text,
  createdAt: time,
  oldSecretsUntil: maybe(time),
  state: word(['on', 'off'] as const),
  failingSince: maybe(time),
  failedAt: maybe(time),
  isSlow: maybe(flag),
  reason: maybe(word(offReasons)),
  offSince: maybe(time),
  /** Sealed JSON. */
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
  /** When it was added, or last sent again. */
  begunAt: time,
  failures: int,
  state: word(deliveryStates),
  /** While it waits: when it is due, or when the claim ends. */
  nextAt: maybe(time),
  receiver: text,
  /** Whether it waits among the slow ones. */
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
  /** The beginning of the answer, or why there is none. */
  answer: text,
});
