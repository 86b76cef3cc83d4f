import * as v from 'valibot';
import { isKind } from '../../../notifications/domain/kinds.ts';
import {
  givenUpReasons,
  responsibles,
  type KindFacts,
  type NotificationKind,
  type Told,
} from '../../../notifications/domain/notification.ts';
import { parseStored, perhaps, type Entries } from '../table.ts';

// How the facts of a notice or a mail are read from JSON. A new kind, or a new fact, does not compile until it is read here.

const project = { project: v.string() };
const host = v.object({ ...project, host: v.string(), name: v.string() });
const trouble = {
  ...host.entries,
  problem: v.string(),
  actor: v.picklist(responsibles),
  fix: v.string(),
  title: v.string(),
};
const quota = v.object({ used: v.number(), limit: v.number(), resetsAt: v.string() });
const person = { email: v.string() };
const link = v.object({ account: v.string(), path: v.string() });

const storedFacts = {
  'domain.live': host,
  'domain.removed': host,
  'domain.expired': host,
  'domain.contested': v.object({
    ...{ ...host.entries, isTaken: v.boolean(), proof: v.string(), wildcard: perhaps(v.string()) },
  }),
  'domain.unhealthy': v.object(trouble),
  'domain.recovered': host,
  'certificate.failing': v.object({ ...trouble, expiresAt: perhaps(v.string()) }),
  'certificate.recovered': v.object({ ...host.entries, expiresAt: v.string() }),
  'deploy.failed': v.object({ ...project, number: v.number(), explanation: v.string() }),
  'key.banned': v.object({ keyId: v.string(), name: v.string(), until: v.string() }),
  'quota.warning': quota,
  'quota.reached': quota,
  'operation.removal': v.object({
    ...{ operation: v.string(), removedAt: v.string(), days: v.number() },
  }),
  'webhook.off': v.object({
    ...{ webhookId: v.string(), receiver: v.string(), reason: v.picklist(givenUpReasons) },
  }),
  'person.invited': v.object({ ...person, ...link.entries, until: v.string() }),
  'sign_in.link': v.object({
    ...{ ...person, links: v.array(link), until: v.string(), isForPassword: v.boolean() },
  }),
  'password.changed': v.object({ ...person, account: v.string(), changedAt: v.string() }),
  'second_factor.changed': v.object({ ...person, account: v.string(), changedAt: v.string() }),
} satisfies {
  readonly [Kind in NotificationKind]: { readonly entries: Entries<KindFacts[Kind]> };
};

/** @throws Error for a kind that only a newer version knows, and for facts that are not of the kind */
export const toldFrom = (kind: string, about: string): Told => {
  if (!isKind(kind)) throw new Error(`this version does not know the kind ${kind}`);
  const schema: v.GenericSchema<unknown, Told['about']> = storedFacts[kind];
  return { kind, about: parseStored(schema, about) } as Told;
};
