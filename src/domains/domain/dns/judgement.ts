import { isWildcard } from '../names/wildcard.ts';
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
  { host, checkedAt, resolvers }: DnsFacts,
  { isApex, isContested, lastValidation, acmeDnsZone }: DnsExpectation,
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
      ownershipRequired: isWildcard(host) || isApex || isContested,
      ownershipProven: false,
      ...(lastValidation && { validation: lastValidation, challengeZone: acmeDnsZone }),
      pointsHere: false,
      mayIssue: [],
      verifiable: false,
    },
  };
};
