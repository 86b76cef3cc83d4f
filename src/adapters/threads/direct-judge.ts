import type { DnsFacts } from '../../sites/domain/dns-facts.ts';
import { judgementOn, type DnsJudgement } from '../../sites/domain/dns-judgement.ts';
import type { DnsExpectation } from '../../sites/domain/dns-report.ts';
import { DnsJudge } from '../../sites/domain-ports.ts';

/** Judges in the thread that asks for it. */
export class DirectJudge extends DnsJudge {
  override judge(facts: DnsFacts, expectation: DnsExpectation): Promise<DnsJudgement> {
    return Promise.resolve(judgementOn(facts, expectation));
  }
}
