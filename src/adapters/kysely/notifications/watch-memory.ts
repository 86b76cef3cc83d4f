import * as v from 'valibot';
import type { DomainMemory } from '../../../notifications/domain/domain-watch.ts';
import type { FailingCertificate } from '../../../notifications/domain/certificate-episode.ts';
import type { Straying } from '../../../notifications/domain/health-episode.ts';
import type { Memory } from '../../../notifications/domain/memory.ts';
import { date, perhaps, type Entries } from '../stored-json.ts';

// How memories are read from JSON. A new kind, or a new field, does not compile until it is read here.

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

const kinds = { domain } satisfies Readonly<Record<Memory['kind'], unknown>>;

export const storedMemory = v.variant('kind', Object.values(kinds));
