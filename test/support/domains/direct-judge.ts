import type { DnsFacts } from '../../../src/domains/domain/dns/facts.ts';
import { judgementOn, type DnsJudgement } from '../../../src/domains/domain/dns/judgement.ts';
import type { DnsExpectation } from '../../../src/domains/domain/dns/report.ts';
import { DnsJudge } from '../../../src/domains/ports.ts';

/** Judges in the calling thread. */
export class DirectJudge extends DnsJudge {
  override judge(facts: DnsFacts, expectation: DnsExpectation): Promise<DnsJudgement> {
    return Promise.resolve(judgementOn(facts, expectation));
  }
}
