import type { DnsFacts } from './facts.ts';
import { dnsProblem } from './problem.ts';
import { reportOn, type DnsExpectation, type DnsReport } from './report.ts';
import { decisiveFirst, keptAnswers, type KeptFacts } from './kept-answers.ts';

/** Everything derived from the answers of name servers. */
export interface DnsJudgement {
  readonly report: DnsReport;
  /** The stored part of the answers, deciding records first. */
  readonly answers: readonly KeptFacts[];
}

export const judgementOn = (facts: DnsFacts, expectation: DnsExpectation): DnsJudgement => ({
  report: reportOn(facts, expectation),
  answers: keptAnswers(facts.resolvers.map((one) => decisiveFirst(one, expectation))),
});

/** For answers that take too long to judge: counts as a failed lookup, which is retried. */
export const unjudged = (
  { checkedAt, resolvers }: DnsFacts,
  { isApex, isContested }: DnsExpectation,
): DnsJudgement => {
  const seen = 'answers that are too large to check';
  return {
    answers: [],
    report: {
      checkedAt,
      problems: [dnsProblem('dns_lookup_failed', { seen, wanted: 'an answer' })],
      resolvers: resolvers.map(({ resolver, tookMs }) => ({
        resolver,
        tookMs,
        seen: 'too large to check',
        ttl: undefined,
        agrees: false,
      })),
      isApex,
      ownershipRequired: isApex || isContested,
      ownershipProven: false,
      pointsHere: false,
      verifiable: false,
    },
  };
};
