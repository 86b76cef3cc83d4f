import { allowingLine, caaLine, caaVerdict, type CaaRefusal, type CaaVerdict } from './caa.ts';
import type { CaaPolicy } from './caa-issue.ts';
import type { ResolverFacts } from './facts.ts';
import { unanswered, type Finding } from './findings.ts';
import { dnsProblem } from './problem.ts';

/** Whether our authority may issue for the name, as one resolver sees its CAA records. */
export const judgeIssuance = (facts: ResolverFacts, host: string, policy: CaaPolicy): Finding => {
  const verdict = caaVerdict(facts.caa, policy);
  const { resolver } = facts;
  const level = facts.caa.find(({ name }) => name === verdict.level);
  const ttl = level?.answer.kind === 'records' ? level.answer.ttl : undefined;
  switch (verdict.kind) {
    case 'allowed':
      return { kind: 'right', resolver, seen: 'CAA allows it', ttl };
    case 'failed':
      return unanswered(resolver, verdict.reason, 'CAA', `CAA of ${verdict.level}`);
    case 'forbidden': {
      const reason = reasons(policy)[verdict.why];
      const seen = `${caaLine(verdict.level, verdict.record)} (${reason})`;
      const found = {
        seen,
        wanted: wantedLine(verdict, policy),
        ...inTheWay(facts, host, verdict),
      };
      const problem = dnsProblem('caa_forbids_issuer', found);
      return { kind: 'wrong', resolver, seen, ttl, problems: [problem] };
    }
  }
};

const reasons = ({ method }: CaaPolicy): Readonly<Record<CaaRefusal, string>> => ({
  unknown_critical_tag: 'a critical tag that no authority may ignore',
  other_authority: 'names another authority',
  nobody: 'allows nobody',
  malformed: 'cannot be read, so it allows nobody',
  other_account: 'names another account of the authority',
  other_method: `does not allow validation by ${method}`,
});

type Forbidden = Extract<CaaVerdict, { readonly kind: 'forbidden' }>;

const wantedLine = ({ why, level, record }: Forbidden, policy: CaaPolicy): string =>
  why === 'unknown_critical_tag' ? `no ${caaLine(level, record)}` : allowingLine(level, policy);

/** A name with a CNAME has no CAA records of its own: records found there are at the CNAME's target. */
const inTheWay = ({ chain }: ResolverFacts, host: string, { level }: Forbidden) => {
  const end = chain.names.at(-1);
  return level === host && end !== undefined
    ? { fix: `The CAA records come from ${end}, where the CNAME leads. They have to change there.` }
    : {};
};
