import type { CaaPolicy } from './caa-issue.ts';
import type { DnsFacts } from './facts.ts';
import { agreementOf, type Finding } from './findings.ts';
import { judgeIssuance } from './issuance.ts';

export interface Issuers {
  /** Of each resolver. */
  readonly issuance: readonly Finding[];
  /** The names of the authorities that CAA allows, the preferred one first. */
  readonly mayIssue: readonly string[];
}

/** Of several authorities, one that may issue is enough. */
export const judgeIssuers = (
  { host, resolvers }: Pick<DnsFacts, 'host' | 'resolvers'>,
  policies: readonly CaaPolicy[],
): Issuers => {
  const judged = policies.map((policy) => ({
    authority: policy.authority,
    findings: resolvers.map((one) => judgeIssuance(one, host, policy)),
  }));
  const allowed = judged.filter(({ findings }) => agreementOf(findings) === 'right');
  const [{ authority, findings } = { authority: '', findings: [] }] = [...allowed, ...judged];
  const isOnly = allowed.length === 1 && policies.length > 1;
  return {
    issuance: isOnly ? findings.map((one) => toldOnly(one, authority)) : findings,
    mayIssue: allowed.map((one) => one.authority),
  };
};

const toldOnly = (finding: Finding, authority: string): Finding =>
  finding.kind === 'right' ? { ...finding, seen: `CAA allows only ${authority}` } : finding;
