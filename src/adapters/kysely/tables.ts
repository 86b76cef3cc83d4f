import * as v from 'valibot';
import type { Account, Warnings } from '../../access/domain/account.ts';
import { scopes, type ApiKey } from '../../access/domain/api-key.ts';
import { mailReasons, type MailRequest } from '../../access/domain/mail-request.ts';
import type { Person } from '../../access/domain/person.ts';
import { plans, type Limits } from '../../access/domain/plan.ts';
import { highUseLevels } from '../../access/domain/rate-quota.ts';
import { signInWays, type Session, type SessionChoice } from '../../access/domain/session.ts';
import type { SignInLink } from '../../access/people-ports.ts';
import { usageOutcomes, type HourOfUsage } from '../../access/usage-ports.ts';
import { orderStatuses, type Order } from '../../catalogue/domain/order.ts';
import { petStatuses, type Pet } from '../../catalogue/domain/pet.ts';
import { customDomainStates } from '../../domains/domain/attachment/custom-domain.ts';
import type { DomainShare } from '../../domains/domain/attachment/share.ts';
import { timelineKinds } from '../../domains/domain/attachment/timeline.ts';
import type { Certificate } from '../../domains/domain/certificates/certificate.ts';
import { ledgerKinds, type LedgerEntry } from '../../domains/domain/certificates/ca-ledger.ts';
import {
  redirectStatuses,
  type DomainSettings,
  type Redirect,
} from '../../domains/domain/redirects/settings.ts';
import type { DnsChallenge } from '../../domains/certificate-ports.ts';
import { isActor, type Actor } from '../../kernel/acting.ts';
import { deliveryStates, failedWhys } from '../../notifications/domain/webhooks/delivery.ts';
import { offReasons } from '../../notifications/domain/webhooks/webhook-event.ts';
import { deployStates } from '../../sites/domain/deploy.ts';
import type { Project } from '../../sites/domain/project.ts';
import { uploadProblems } from '../../sites/domain/sites-error.ts';
import {
  assigned,
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
  type Column,
  type Entries,
} from './column.ts';
import { table, type ColumnsOf } from './table.ts';

// Every table of the database, and nothing else. A test compares them with what the migration makes.

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
  createdAt: time,
  warnings: json<Warnings>(warnings),
} satisfies ColumnsOf<Omit<Account, 'ownLimits'> & Partial<Limits>>);

export const apiKeys = table({
  id: text,
  accountId: text,
  name: text,
  hint: text,
  scopes: words(scopes),
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
  passwordHash: maybe(text),
  createdAt: time,
  joinedAt: maybe(time),
  provenAt: maybe(time),
  /** The id of the newest notice that they have seen. */
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
  startedAt: time,
  endsAt: time,
  others: json<readonly SessionChoice[]>(v.array(choice)),
  resetsPassword: flag,
} satisfies ColumnsOf<Session, 'secretHash'>);

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

export const pets = table({
  id: assigned,
  accountId: text,
  name: text,
  categoryId: int64,
  status: word(petStatuses),
} satisfies ColumnsOf<Pet, 'accountId'>);

export const orders = table({
  id: assigned,
  accountId: text,
  petId: int64,
  quantity: int,
  shipDate: time,
  status: word(orderStatuses),
} satisfies ColumnsOf<Order, 'accountId'>);

export const idempotencyKeys = table({
  accountId: text,
  idempotencyKey: text,
  fingerprint: text,
  answer: text,
  createdAt: time,
});

const redirect = v.object({
  from: v.string(),
  to: v.string(),
  status: v.picklist(redirectStatuses),
} satisfies Entries<Redirect>);

const settings = v.object({
  primary: perhaps(v.nullable(v.string())),
  redirects: v.array(redirect),
} satisfies Entries<DomainSettings>);

export const projects = table({
  id: text,
  accountId: text,
  name: text,
  slug: text,
  createdAt: time,
  servedDeployId: maybe(text),
  /** The highest that a deploy of the project ever had, also once that deploy is deleted. */
  lastNumber: int,
  domainSettings: maybe(json<DomainSettings>(settings)),
} satisfies ColumnsOf<Project, 'servedDeployId' | 'lastNumber' | 'domainSettings'>);

export const deploys = table({
  id: text,
  projectId: text,
  number: int,
  state: word(deployStates),
  startedAt: time,
  finishedAt: maybe(time),
  files: maybe(int),
  bytes: maybe(int),
  problem: maybe(word(uploadProblems)),
  explanation: maybe(text),
});

/** A removed route stays for a while with `removedAt`, so that every edge learns of it; so do certificates. */
export const routes = table({
  name: text,
  projectId: text,
  deployId: maybe(text),
  redirectTo: maybe(text),
  redirectStatus: maybe(int),
  revision: int64,
  removedAt: maybe(time),
});

export const certificates = table({
  host: text,
  chain: maybe(text),
  /** Sealed. */
  privateKey: maybe(text),
  /** Id of the key that it is sealed under. */
  sealedBy: maybe(text),
  notBefore: maybe(time),
  notAfter: maybe(time),
  revision: int64,
  removedAt: maybe(time),
} satisfies ColumnsOf<
  Pick<Certificate, 'host'> & Partial<Omit<Certificate, 'host'>>,
  'sealedBy' | 'revision' | 'removedAt'
>);

/** One row. */
export const edgeRevision = table({ id: int64, revision: int64, publicPort: maybe(int) });

export const domains = table({
  id: text,
  accountId: text,
  projectId: text,
  host: text,
  /** The host, until the domain is removed: once in a project. */
  attachedHost: maybe(text),
  /** The host, while it is verified or live: once over all accounts. */
  provenHost: maybe(text),
  unicodeHost: text,
  token: text,
  state: word(customDomainStates),
  generation: int,
  addedAt: time,
  /** JSON of the fields that are never searched. */
  details: text,
  dueAt: maybe(time),
  claim: maybe(text),
  claimedUntil: maybe(time),
});

export const domainTimeline = table({
  id: assigned,
  domainId: text,
  kind: word(timelineKinds),
  /** JSON. */
  details: text,
  occurredAt: time,
});

export const certificateOrders = table({
  authority: text,
  subject: text,
  host: text,
  /** Sealed. */
  privateKey: text,
  sealedBy: text,
  url: maybe(text),
  token: maybe(text),
  keyAuthorization: maybe(text),
});

/** The platform's own names. */
export const ownNames = table({
  host: text,
  generation: int,
  /** JSON. */
  details: text,
});

/** What our name servers answer. */
export const dnsChallenges = table({
  label: text,
  value: text,
  subject: text,
  expiresAt: time,
} satisfies ColumnsOf<DnsChallenge, 'subject'>);

export const authorityAccounts = table({
  directoryUrl: text,
  url: text,
  /** Sealed. */
  privateKey: text,
  sealedBy: text,
});

export const authorityLedger = table({
  id: assigned,
  kind: word(ledgerKinds),
  orderKey: text,
  authority: text,
  accountId: text,
  host: text,
  registrableDomain: text,
  isManual: flag,
  occurredAt: time,
} satisfies ColumnsOf<LedgerEntry, 'id'>);

export const jobLeases = table({ job: text, holder: text, leaseUntil: time });

export const backupTimes = table({ step: text, moment: time });

/** One row. */
export const authorityTurn = table({ id: int64, turn: int64 });

const actor: Column<Actor, string> = {
  ...text,
  read: (stored) => {
    if (!isActor(stored)) throw new Error(`stored actor "${stored}" is invalid`);
    return stored;
  },
};

export const events = table({
  id: text,
  accountId: text,
  type: text,
  /** JSON. */
  details: text,
  occurredAt: time,
  actor,
});

export const deliveries = table({
  id: assigned,
  eventId: text,
  subscriber: text,
  attempts: int,
  dueAt: time,
  parked: flag,
  claim: maybe(text),
  problem: maybe(text),
});

/** The browser's own id, then those of its people. */
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
  /** Until then it waits for an answer. */
  mailedAt: maybe(time),
  source: text,
  device: maybe(device),
  turn: int,
} satisfies ColumnsOf<MailRequest, 'mailedAt'>);

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
  ending: maybe(text),
  problem: maybe(text),
  /** It is not sent after that. */
  until: time,
});

export const domainShares = table({
  id: text,
  accountId: text,
  domainId: text,
  /** SHA-256. */
  secretHash: text,
  createdAt: time,
  endsAt: time,
} satisfies ColumnsOf<DomainShare, 'secretHash'>);

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
