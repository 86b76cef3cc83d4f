import { isWithin } from '../names/hostname.ts';
import { type CaaPolicy, caaVerdict, relevantTo } from './caa.ts';
import {
  type CaaLevel,
  type CaaRecord,
  type CnameChain,
  type DnsAnswer,
  type DnsFacts,
  type ExtendedError,
  firstThose,
  isSameAddress,
  type ResolverFacts,
  shortened,
  shownAtMost,
} from './facts.ts';
import { ownershipValueOf } from './records.ts';
import { type DnsExpectation, type DnsReport, reportOn } from './report.ts';

export interface DnsJudgement {
  readonly report: DnsReport;
  readonly answers: readonly KeptFacts[];
}

export const judgementOn = (facts: DnsFacts, expectation: DnsExpectation): DnsJudgement => ({
  report: reportOn(facts, expectation),
  answers: keptAnswers(facts.resolvers.map((one) => decisiveFirst(one, expectation))),
});

export interface DnsStatus {
  readonly report: DnsReport | undefined;
  readonly lastCheckedAt: Date | undefined;
  readonly nextCheckAt: Date | undefined;
  readonly lastVerifyAskedAt: Date | undefined;
  readonly preparedUntil: Date | undefined;
}

export const neverChecked: DnsStatus = {
  report: undefined,
  lastCheckedAt: undefined,
  nextCheckAt: undefined,
  lastVerifyAskedAt: undefined,
  preparedUntil: undefined,
};

export const checked = (dns: DnsStatus, report: DnsReport, nextCheckAt: Date): DnsStatus => ({
  ...dns,
  report,
  lastCheckedAt: report.checkedAt,
  nextCheckAt,
});

/** A later check finished first. If the last check is in the future, the clock was set back. */
export const isOvertaken = (
  { lastCheckedAt }: DnsStatus,
  { checkedAt }: DnsReport,
  now: Date,
): boolean => lastCheckedAt !== undefined && checkedAt < lastCheckedAt && lastCheckedAt <= now;

/** The DNS may reveal a zone below the registrable domain. */
export const isAtApex = ({ isApex, dns }: { readonly isApex: boolean; readonly dns: DnsStatus }) =>
  dns.report?.isApex ?? isApex;

/** `more` is the number of omitted records. */
export type KeptAnswer<Item> =
  | Exclude<DnsAnswer<Item>, { readonly kind: 'records' }>
  | {
      readonly kind: 'records';
      readonly records: readonly Item[];
      readonly ttl?: number | undefined;
      readonly more?: number | undefined;
    };

export interface KeptFacts
  extends
    Omit<ResolverFacts, 'chain' | AnswerName | 'caa' | 'delegation'>,
    Readonly<Record<AnswerName, KeptAnswer<string>>> {
  readonly chain: CnameChain & { readonly more?: number | undefined };
  readonly caa: readonly KeptLevel[];
  readonly delegation?: KeptAnswer<string> | undefined;
}

type AnswerName = 'cname' | 'a' | 'aaaa' | 'txt' | 'sibling';
type KeptLevel = Omit<CaaLevel, 'answer'> & { readonly answer: KeptAnswer<CaaRecord> };

/** For all resolvers of one check, as UTF-8 JSON. */
export const mostKeptBytes = 16 * 1024;

/** Shortens answers to the size limit: the first records of each, and the number of omitted ones. */
export const keptAnswers = (resolvers: readonly ResolverFacts[]): readonly KeptFacts[] =>
  resolvers.map((one) => keptOf(one, mostKeptBytes / resolvers.length));

const keptOf = (facts: ResolverFacts, bytes: number): KeptFacts => {
  const { delegation, unchecked, zone } = facts;
  const fit = fitting(bytes, 8 + [delegation, unchecked, zone].filter(Boolean).length);
  const text = (answer: DnsAnswer<string>) => fitAnswer(answer, fit, shortened);
  const decisive = facts.caa.slice(-1).map(({ name, answer }) => ({
    name,
    answer: fitAnswer(answer, fit, shortCaa),
  }));
  const { names, end } = facts.chain;
  const hops = fit(names, shortened);
  return {
    ...facts,
    txt: text(facts.txt),
    cname: text(facts.cname),
    a: text(facts.a),
    aaaa: text(facts.aaaa),
    sibling: text(facts.sibling),
    ...(delegation && { delegation: text(delegation) }),
    ...(zone && { zone: { ...zone, nameServers: fit(zone.nameServers, shortened).kept } }),
    ...(unchecked && {
      unchecked: { ...unchecked, errors: fit(unchecked.errors, shortError).kept },
    }),
    chain: { names: hops.kept, end, ...leftOut(hops.more) },
    caa: [...fit(facts.caa.slice(0, -1), (level) => level).kept, ...decisive],
  };
};

type Fit = <Item>(items: readonly Item[], cut: Cut<Item>) => Fitted<Item>;
type Cut<Item> = (item: Item, longest: number) => Item;
interface Fitted<Item> {
  readonly kept: readonly Item[];
  readonly more: number;
}

/** Each list gets an equal share of the room, plus what earlier lists left. */
const fitting = (bytes: number, lists: number): Fit => {
  let [left, waiting] = [bytes, lists];
  return (items, cut) => {
    const room = left / Math.max(1, waiting);
    waiting -= 1;
    const kept = firstOf(items, room, cut);
    left -= bytesOf(kept);
    return { kept, more: items.length - kept.length };
  };
};

const firstOf = <Item>(items: readonly Item[], room: number, cut: Cut<Item>): readonly Item[] => {
  const kept: Item[] = [];
  let bytes = bytesOf([]);
  for (const item of items.slice(0, shownAtMost.records)) {
    const short = cut(item, shownAtMost.characters);
    bytes += bytesOf(short) + 1;
    if (bytes > room) break;
    kept.push(short);
  }
  const [first] = items;
  if (kept.length > 0 || first === undefined) return kept;
  // The first record is always kept. A character takes up to six bytes in JSON, and a record has two texts.
  return [cut(first, Math.floor(room / 16))];
};

const bytesOf = (value: unknown): number =>
  new TextEncoder().encode(JSON.stringify(value)).byteLength;

const fitAnswer = <Item>(answer: DnsAnswer<Item>, fit: Fit, cut: Cut<Item>): KeptAnswer<Item> => {
  const { kept, more } = fit(answer.kind === 'records' ? answer.records : [], cut);
  if (answer.kind !== 'records') return answer;
  return { ...answer, records: kept, ...leftOut(more) };
};

const leftOut = (more: number) => (more > 0 ? { more } : {});

const shortCaa: Cut<CaaRecord> = ({ flags, tag, value }, longest) => ({
  flags,
  tag: shortened(tag, longest),
  value: shortened(value, longest),
});

const shortError: Cut<ExtendedError> = ({ code, text }, longest) => ({
  code,
  text: shortened(text, longest),
});

export const decisiveFirst = (facts: ResolverFacts, expectation: DnsExpectation): ResolverFacts => {
  const { token, platformHost, platformAddresses, caa } = expectation;
  const isForeign = (address: string) =>
    !platformAddresses.some((ours) => isSameAddress(address, ours));
  return {
    ...facts,
    txt: ordered(facts.txt, (text) => text.trim() === ownershipValueOf(token)),
    cname: ordered(facts.cname, (name) => isWithin(name, platformHost)),
    a: ordered(facts.a, isForeign),
    aaaa: ordered(facts.aaaa, isForeign),
    caa: facts.caa.map(({ name, answer }) => ({
      name,
      answer: ordered(answer, decidesFor({ name, answer }, caa)),
    })),
  };
};

const ordered = <Item>(
  answer: DnsAnswer<Item>,
  matters: (item: Item) => boolean,
): DnsAnswer<Item> =>
  answer.kind === 'records' ? { ...answer, records: firstThose(answer.records, matters) } : answer;

const decidesFor = (level: CaaLevel, policies: readonly CaaPolicy[]) => {
  const all = policies.map((policy) => decides(level, policy));
  return (record: CaaRecord): boolean => all.some((matters) => matters(record));
};

const decides = (level: CaaLevel, policy: CaaPolicy): ((record: CaaRecord) => boolean) => {
  const verdict = caaVerdict([level], policy);
  if (verdict.kind === 'forbidden') return (record) => record === verdict.record;
  const relevant = level.answer.kind === 'records' ? relevantTo(level.answer.records, policy) : [];
  const alone = (record: CaaRecord) =>
    caaVerdict([{ ...level, answer: { kind: 'records', records: [record], ttl: 0 } }], policy);
  return (record) => relevant.includes(record) && alone(record).kind === 'allowed';
};
