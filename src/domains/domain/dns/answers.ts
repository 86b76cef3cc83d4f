import type { DnsAnswer, ResolverFacts } from './facts.ts';
import { listed } from './shortened.ts';

export const recordsOf = <Item>(answer: DnsAnswer<Item>): readonly Item[] =>
  answer.kind === 'records' ? answer.records : [];

/** How many seconds the longest-lived of some answers is still given. */
export const longestTtl = (answers: readonly DnsAnswer<unknown>[]): number | undefined => {
  const ttls = answers.flatMap((answer) =>
    answer.kind === 'records' && answer.ttl !== undefined ? [answer.ttl] : [],
  );
  return ttls.length > 0 ? Math.max(...ttls) : undefined;
};

export const addressesOf = ({ a, aaaa }: ResolverFacts): readonly string[] => [
  ...recordsOf(a),
  ...recordsOf(aaaa),
];

/** In words, like `A 192.0.2.1; AAAA 2001:db8::1`. */
export const addressesSeen = ({ a, aaaa }: ResolverFacts): string =>
  [['A', recordsOf(a)] as const, ['AAAA', recordsOf(aaaa)] as const]
    .filter(([, records]) => records.length > 0)
    .map(([type, records]) => `${type} ${listed(records)}`)
    .join('; ');
