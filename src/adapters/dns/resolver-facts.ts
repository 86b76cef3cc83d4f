import type {
  CaaLevel,
  CnameChain,
  DnsAnswer,
  DnsZone,
  ResolverFacts,
  UncheckedAnswer,
} from '../../domains/domain/dns/facts.ts';
import { challengeNameOf, delegationNameOf } from '../../domains/domain/dns/records.ts';
import { baseOf } from '../../domains/domain/names/name-rules.ts';
import type { Questions } from './resolver-questions.ts';
import type { WireQuestion } from './wire-questions.ts';

export interface AskedNames {
  readonly host: string;
  /** What visitors would ask for: the host, or a name that the wildcard covers. */
  readonly probe: string;
  readonly sibling: string;
}

/** Looks up all facts about a host, in parallel where questions do not depend on each other. */
export const askAll = async (
  ask: Questions,
  { host, probe, sibling }: AskedNames,
): Promise<Omit<ResolverFacts, 'resolver' | 'tookMs'>> => {
  const first = ask.cname(probe);
  const [cname, chain, a, aaaa, txt, beside, soa, ns, caa, above] = await Promise.all([
    first,
    walkChain(ask, probe, first),
    ask.a(probe),
    ask.aaaa(probe),
    ask.txt(challengeNameOf(host)),
    askSibling(ask, sibling),
    ask.soa(probe),
    ask.ns(probe),
    climb(ask, baseOf(host)),
    zoneAbove(ask, host),
  ]);
  // SOA and NS of a CNAME are those of its target.
  const isZoneApex = [soa, ns].every(hasRecords) && !hasRecords(cname);
  const zone = isZoneApex ? zoneAt(host, ns) : above;
  const facts = { cname, chain, a, aaaa, txt, sibling: beside, isZoneApex, caa };
  return zone ? { ...facts, zone } : facts;
};

/** Only a zone names its name servers. Those of top-level domains are never asked for. */
const zoneAbove = async (ask: Questions, host: string): Promise<DnsZone | undefined> => {
  const parents = namesUpwards(host).slice(1, -1);
  const zones = await Promise.all(parents.map(async (name) => zoneAt(name, await ask.ns(name))));
  return zones.find((zone) => zone !== undefined);
};

const zoneAt = (name: string, ns: DnsAnswer<string>): DnsZone | undefined =>
  ns.kind === 'records' ? { name, nameServers: ns.records } : undefined;

const hasRecords = ({ kind }: DnsAnswer<unknown>): boolean => kind === 'records';

const mostHops = 10;

/** Follows CNAMEs one by one, because a resolved answer would not show where the chain goes wrong. */
const walkChain = async (
  ask: Questions,
  host: string,
  first: Promise<DnsAnswer<string>>,
): Promise<CnameChain> => {
  const names: string[] = [];
  for (let answer = await first; ; answer = await ask.cname(names.at(-1) ?? host)) {
    if (answer.kind === 'failed') return { names, end: 'failed' };
    const next = answer.kind === 'records' ? answer.records[0] : undefined;
    if (next === undefined) return { names, end: 'reached' };
    if (next === host || names.includes(next)) return { names, end: 'loop' };
    if (names.length === mostHops) return { names, end: 'too_long' };
    names.push(next);
  }
};

/**
 * CAA as an authority looks for it (RFC 8659, section 3): at the host, without the asterisk of a wildcard, and at each
 * parent up to the top-level domain, never at the parents of a CNAME's target. All levels are asked at once; those above the deciding one do not count.
 */
const climb = async (ask: Questions, host: string): Promise<readonly CaaLevel[]> => {
  const asked = namesUpwards(host).map((name) => ({ name, answer: ask.caa(name) }));
  const levels: CaaLevel[] = [];
  for (const { name, answer } of asked) {
    const level = { name, answer: await answer };
    levels.push(level);
    if (level.answer.kind === 'records' || level.answer.kind === 'failed') break;
  }
  return levels;
};

const namesUpwards = (host: string): readonly string[] =>
  host.split('.').map((_, at, labels) => labels.slice(at).join('.'));

const askSibling = async (ask: Questions, name: string): Promise<DnsAnswer<string>> => {
  const answers = [ask.cname(name), ask.a(name), ask.aaaa(name)] as const;
  const [cname, a, aaaa] = await Promise.all(answers);
  return [cname, a, aaaa].find(hasRecords) ?? a;
};

type Facts = Pick<ResolverFacts, 'cname' | 'a' | 'aaaa' | 'txt' | 'caa' | 'delegation'>;

/**
 * Finds out whether DNSSEC is why a resolver failed. Only questions that the owner's own zones answer count: addresses
 * and CAA records of a CNAME come from the zone of its target, which may be ours.
 */
export const findUnchecked = async (
  ask: Questions,
  asked: AskedNames,
  facts: Facts,
): Promise<UncheckedAnswer | undefined> => {
  const failed = questionsOf(asked, facts).find(([, answer]) => isServerFailure(answer));
  return failed && ask.unchecked(failed[0]);
};

type Asked = readonly [question: WireQuestion, answer: DnsAnswer<unknown>];

const questionsOf = (
  { host, probe }: AskedNames,
  { cname, a, aaaa, txt, caa, delegation }: Facts,
): readonly Asked[] => {
  const leadsAway = cname.kind === 'records';
  const levels = caa.filter(({ name }) => !(leadsAway && name === host));
  return [
    [{ type: 'CNAME', name: probe }, cname],
    ...(leadsAway
      ? []
      : ([
          [{ type: 'A', name: probe }, a],
          [{ type: 'AAAA', name: probe }, aaaa],
        ] as const)),
    [{ type: 'TXT', name: challengeNameOf(host) }, txt],
    ...(delegation ? [[{ type: 'CNAME', name: delegationNameOf(host) }, delegation] as const] : []),
    ...levels.map(({ name, answer }): Asked => [{ type: 'CAA', name }, answer]),
  ];
};

const isServerFailure = (answer: DnsAnswer<unknown>): boolean =>
  answer.kind === 'failed' && answer.reason === 'servfail';
