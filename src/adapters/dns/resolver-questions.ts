import type { Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import {
  largestAnswer,
  type CaaRecord,
  type DnsAnswer,
  type UncheckedAnswer,
} from '../../domains/domain/dns/facts.ts';
import { askCaa } from './caa-question.ts';
import { NodeQuestions, type Records } from './node-question.ts';
import type { ServerAddress } from './server-address.ts';
import { tryAgain, tryOnce, type Patience } from './tries.ts';
import { askUnchecked } from './unchecked-question.ts';
import { longestName, type WireQuestion } from './wire-question.ts';

/** What can be asked of one resolver. Never rejects; names come back in lower case. */
export interface Questions {
  a(name: string): Promise<DnsAnswer<string>>;
  aaaa(name: string): Promise<DnsAnswer<string>>;
  /** The name's own CNAME: one hop. */
  cname(name: string): Promise<DnsAnswer<string>>;
  txt(name: string): Promise<DnsAnswer<string>>;
  caa(name: string): Promise<DnsAnswer<CaaRecord>>;
  ns(name: string): Promise<DnsAnswer<string>>;
  /** The zone's first server. */
  soa(name: string): Promise<DnsAnswer<string>>;
  /** For a question that failed with SERVFAIL: see `askUnchecked`. */
  unchecked(question: WireQuestion): Promise<UncheckedAnswer | undefined>;
}

export const questionsTo = (server: ServerAddress, patience: Patience): Questions => {
  const node = new NodeQuestions(server, patience.deadline);
  const ask = async (
    name: string,
    question: (resolver: Resolver) => Promise<Records<string>>,
  ): Promise<DnsAnswer<string>> =>
    // node:dns sends names that are a little too long, and such a question may never be answered.
    name.length > longestName
      ? malformed
      : tryAgain(
          async (signal) => withinLimits(await node.ask(question, signal), (text) => text),
          patience,
        );
  return {
    a: (name) => ask(name, async (its) => addresses(await its.resolve4(name, { ttl: true }))),
    aaaa: (name) => ask(name, async (its) => addresses(await its.resolve6(name, { ttl: true }))),
    cname: (name) => ask(name, async (its) => names(await its.resolveCname(name))),
    txt: (name) => ask(name, async (its) => texts(await its.resolveTxt(name))),
    caa: (name) =>
      tryAgain(
        async (signal) =>
          withinLimits(await askCaa(server, name, signal), ({ tag, value }) => tag + value),
        patience,
      ),
    ns: (name) => ask(name, async (its) => names(await its.resolveNs(name))),
    soa: (name) => ask(name, async (its) => names([(await its.resolveSoa(name)).nsname])),
    unchecked: (question) =>
      tryOnce((signal) => askUnchecked(server, question, signal), patience).catch(() => undefined),
  };
};

const malformed = { kind: 'failed', reason: 'malformed' } as const;

const addresses = (
  records: readonly { readonly address: string; readonly ttl: number }[],
): Records<string> => ({
  // One spelling for each address (RFC 5952), or two resolvers would seem to disagree.
  items: records.map(({ address }) => ipaddr.parse(address).toString()),
  ttl: Math.min(...records.map(({ ttl }) => ttl)),
});

const names = (records: readonly string[]): Records<string> => ({
  items: records.map((name) => name.toLowerCase().replace(/\.$/, '')),
});

const texts = (records: readonly (readonly string[])[]): Records<string> => ({
  items: records.map((strings) => strings.join('')),
});

/** Absurdly large answers are not judged, but reported as `too_large`. @param textOf all that a record holds */
export const withinLimits = <Item>(
  answer: DnsAnswer<Item>,
  textOf: (record: Item) => string,
): DnsAnswer<Item> => {
  if (answer.kind !== 'records') return answer;
  const { records } = answer;
  const characters = records.reduce((sum, record) => sum + textOf(record).length, 0);
  const isTooLarge =
    records.length > largestAnswer.records || characters > largestAnswer.characters;
  return isTooLarge ? { kind: 'failed', reason: 'too_large' } : answer;
};
