import type { ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import { facts, records } from '../domains/known-dns.ts';

const many = <Item>(count: number, make: (n: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** The largest facts that an adapter lets through. @param letter to fill texts with */
export const heavyFacts = (letter: string): Omit<ResolverFacts, 'resolver'> => {
  const text = letter.repeat(60_000);
  const caa = many(60, () => ({ flags: 0, tag: 'issue', value: letter.repeat(1000) }));
  return facts({
    a: records(...many(1000, (n) => `198.51.100.${n % 250}`)),
    aaaa: records(...many(1000, (n) => `2001:db8::${n.toString(16)}`)),
    txt: records(text, ...many(40, (n) => `${letter}${n}`)),
    sibling: records(...many(1000, (n) => `198.51.100.${n % 250}`)),
    caa: [{ name: 'birds.test', answer: records(...caa) }],
  });
};
