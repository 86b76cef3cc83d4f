import type { DnsFacts } from './facts.ts';
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
