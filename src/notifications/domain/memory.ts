import type { DomainMemory } from './domain-watch.ts';
import type { QuotaMemory } from './quota-watch.ts';
import type { RemovalMemory } from './removal-watch.ts';

/** What is remembered of one thing between two looks at it: since when it is wrong, and what was told of that. */
export type Memory = DomainMemory | QuotaMemory | RemovalMemory;
