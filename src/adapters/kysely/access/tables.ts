import * as v from 'valibot';
import type { Account, Warnings } from '../../../access/domain/account.ts';
import { scopes, type ApiKey } from '../../../access/domain/api-key.ts';
import { mailReasons, type MailRequest } from '../../../access/domain/mail-request.ts';
import type { Person } from '../../../access/domain/person.ts';
import { roles } from '../../../access/domain/role.ts';
import {
  plans,
  type Limits,
  type SiteLimits,
  highUseLevels,
} from '../../../access/domain/quota.ts';
import type { Passkey, SecondFactor } from '../../../access/domain/second-factor.ts';
import { signInWays, type Session, type SessionChoice } from '../../../access/domain/session.ts';
import type { SignInLink } from '../../../access/people-ports.ts';
import { usageOutcomes, type HourOfUsage } from '../../../access/ports.ts';
import {
  date,
  flag,
  int,
  int64,
  json,
  maybe,
  perhaps,
  text,
  time,
  word,
  words,
  table,
  type Column,
  type Entries,
  type ColumnsOf,
} from '../table.ts';

const warnings = v.object({
  quota: perhaps(v.object({ level: v.picklist(highUseLevels), resetsAt: date })),
  removals: v.array(v.object({ operation: v.string(), removedAt: date, step: v.number() })),
} satisfies Entries<Warnings>);

export const accounts = table({
  id: text,
  name: text,
  email: text,
  plan: word(plans),
  perMinute: maybe(int),
  perDay: maybe(int),
  projects: maybe(int),
  domains: maybe(int),
  storageGib: maybe(int),
  createdAt: time,
  deletedAt: maybe(time),
  warnings: json<Warnings>(warnings),
  factorDemandedAt: maybe(time),
} satisfies ColumnsOf<Omit<Account, 'ownLimits' | 'siteLimits'> & Partial<Limits> & SiteLimits>);

export const apiKeys = table({
  id: text,
  accountId: text,
  name: text,
  hint: text,
  scopes: words(scopes),
  projectId: maybe(text),
  createdAt: time,
  expiresAt: maybe(time),
  revokedAt: maybe(time),
  lastUsedAt: maybe(time),
  banSince: maybe(time),
  banUntil: maybe(time),
  banMinutes: maybe(int),
} satisfies ColumnsOf<Omit<ApiKey, 'ban'>, 'banSince' | 'banUntil' | 'banMinutes'>);

export const apiKeySecrets = table({ secretHash: text, keyId: text, endsAt: maybe(time) });

export const people = table({
  id: text,
  accountId: text,
  email: text,
  role: word(roles),
  name: maybe(text),
  passwordHash: maybe(text),
  createdAt: time,
  joinedAt: maybe(time),
  provenAt: maybe(time),
  factorSince: maybe(time),
  /** Id of the newest notice that the person has seen. */
  noticesSeen: maybe(int64),
} satisfies ColumnsOf<Person, 'noticesSeen'>);

const choice = v.object({
  personId: v.string(),
  proof: v.string(),
} satisfies Entries<SessionChoice>);

export const sessions = table({
  id: text,
  personId: text,
  secretHash: text,
  way: word(signInWays),
  browser: text,
  network: text,
  seenAt: time,
  provenAt: maybe(time),
  awaitsFactor: flag,
  startedAt: time,
  endsAt: time,
  others: json<readonly SessionChoice[]>(v.array(choice)),
  resetsPassword: flag,
} satisfies ColumnsOf<Session, 'secretHash'>);

const passkey = v.object({
  id: v.string(),
  name: v.string(),
  publicKey: v.string(),
  counter: v.number(),
  createdAt: date,
  usedAt: perhaps(date),
} satisfies Entries<Passkey>);

export const secondFactors = table({
  personId: text,
  secret: maybe(text),
  sealedBy: maybe(text),
  appSince: maybe(time),
  lastStep: maybe(int),
  passkeys: json<readonly Passkey[]>(v.array(passkey)),
  recovery: json<readonly string[]>(v.array(v.string())),
  challengedUntil: time,
} satisfies ColumnsOf<Omit<SecondFactor, 'app'>, 'secret' | 'sealedBy' | 'appSince' | 'lastStep'>);

export const signInLinks = table({
  secretHash: text,
  personId: text,
  endsAt: time,
  resetsPassword: flag,
} satisfies ColumnsOf<SignInLink>);

export const quotaCounters = table({ subject: text, data: text, savedAt: time });

export const usageHours = table({
  accountId: text,
  hour: time,
  keyId: text,
  operation: text,
  outcome: word(usageOutcomes),
  requests: int,
} satisfies ColumnsOf<HourOfUsage>);

export const usageDays = table({
  accountId: text,
  day: time,
  keyId: text,
  outcome: word(usageOutcomes),
  requests: int,
});

export const idempotencyKeys = table({
  accountId: text,
  idempotencyKey: text,
  fingerprint: text,
  answer: text,
  createdAt: time,
});

/** The browser's id, followed by the ids of its people. */
const device: Column<NonNullable<MailRequest['device']>, string> = {
  ...text,
  read: (stored) => {
    const [id = '', ...personIds] = stored.split(' ');
    return { id, personIds };
  },
  write: ({ id, personIds }) => [id, ...personIds].join(' '),
};

export const mailRequests = table({
  id: text,
  reason: word(mailReasons),
  email: text,
  personId: maybe(text),
  askedAt: time,
  mailedAt: maybe(time),
  source: text,
  device: maybe(device),
  turn: int,
} satisfies ColumnsOf<MailRequest, 'mailedAt'>);
