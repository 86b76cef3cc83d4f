import * as v from 'valibot';
import type { DomainMemory } from '../../../notifications/domain/domain-watch.ts';
import { quotaLevels, type QuotaMemory } from '../../../notifications/domain/quota-watch.ts';
import type { RemovalMemory } from '../../../notifications/domain/removal-watch.ts';
import type { FailingCertificate } from '../../../notifications/domain/certificate-episode.ts';
import type { Straying } from '../../../notifications/domain/health-episode.ts';
import type { Memory } from '../../../notifications/domain/memory.ts';
import { perhaps, type Entries } from '../column.ts';

// How memories are read from JSON. A new kind, or a new field, does not compile until it is read here.

const date = v.pipe(
  v.string(),
  v.transform((text) => new Date(text)),
  v.date(),
);

const straying = v.object({ since: date, isTold: v.boolean() } satisfies Entries<Straying>);
const failing = v.object({
  toldAt: date,
  notBefore: perhaps(date),
} satisfies Entries<FailingCertificate>);

const domain = v.object({
  kind: v.literal('domain'),
  overSince: perhaps(date),
  straying: perhaps(straying),
  failing: perhaps(failing),
} satisfies Entries<DomainMemory>);
const quota = v.object({
  kind: v.literal('quota'),
  resetsAt: date,
  told: v.picklist(quotaLevels),
} satisfies Entries<QuotaMemory>);
const removal = v.object({
  kind: v.literal('removal'),
  step: v.number(),
} satisfies Entries<RemovalMemory>);

const kinds = { domain, quota, removal } satisfies Readonly<Record<Memory['kind'], unknown>>;

export const storedMemory = v.variant('kind', Object.values(kinds));
