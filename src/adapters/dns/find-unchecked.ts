import type { DnsAnswer, ResolverFacts, UncheckedAnswer } from '../../domains/domain/dns/facts.ts';
import { challengeNameOf, delegationNameOf } from '../../domains/domain/dns/records.ts';
import type { AskedNames } from './resolver-facts.ts';
import type { Questions } from './resolver-questions.ts';
import type { WireQuestion } from './wire-question.ts';

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
