import type { DomainMemory } from './domain-watch.ts';

/** What is remembered of one thing between two looks at it: since when it is wrong, and what was told of that. */
export type Memory = DomainMemory;
