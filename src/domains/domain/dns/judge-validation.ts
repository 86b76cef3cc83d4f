import type { CaaPolicy } from './caa-issue.ts';
import { judgeDelegation, type Delegated } from './delegation.ts';
import type { DnsFacts } from './facts.ts';
import { agreementOf, type Finding } from './findings.ts';
import { judgeIssuers, type Issuers } from './issuers.ts';
import {
  methodFor,
  methodNames,
  needsTraffic,
  type Validation,
  type ValidationMethod,
} from './validation.ts';

type Asked = Pick<DnsFacts, 'host' | 'resolvers'>;

interface Expected extends Omit<Delegated, 'host'> {
  readonly lastValidation?: Validation | undefined;
  readonly caa: readonly CaaPolicy[];
}

/** Which authorities may issue, and how each of them validates the name. */
export const judgeValidation = (
  asked: Asked,
  expectation: Expected,
): Issuers & { readonly validation?: Validation } => {
  const { caa, acmeDnsZone, lastValidation } = expectation;
  if (acmeDnsZone === undefined) return judgeIssuers(asked, caa);
  const name = { ...expectation, host: asked.host };
  const seen = asked.resolvers.map((one) => judgeDelegation(one, name));
  const agreement = agreementOf(seen);
  const delegated =
    agreement === 'unknown' ? (lastValidation?.delegated ?? false) : agreement === 'right';
  const judged = judgeBy(asked, expectation, delegated);
  const isOpen = agreement === 'unknown' && !delegated;
  if (isOpen) return unlessDelegated(judged, judgeBy(asked, expectation, true), seen);
  const label = agreement === 'unknown' ? lastValidation?.label : sharedLabel(asked, name);
  const isShared = delegated && label !== undefined;
  return isShared ? { ...judged, validation: { ...judged.validation, label } } : judged;
};

/** @returns undefined where the challenge name leads to the attachment itself */
const sharedLabel = ({ resolvers }: Asked, { sharedToken, ...own }: Delegated) =>
  agreementOf(resolvers.map((one) => judgeDelegation(one, own))) === 'right'
    ? undefined
    : sharedToken;

type Judged = Issuers & { readonly validation: Validation };

const overHttp = methodNames.filter(needsTraffic);

/** Each authority validates by the first method that CAA allows it. */
const judgeBy = (asked: Asked, { caa }: Expected, delegated: boolean): Judged => {
  const name = { host: asked.host, isDelegated: delegated };
  const mayBe = (policy: CaaPolicy, method: ValidationMethod) =>
    agreementOf(judgeIssuers(asked, [{ ...policy, method }]).issuance) !== 'wrong';
  const policies = caa.map((policy) => ({
    ...policy,
    method: methodFor(name, (method) => mayBe(policy, method)),
  }));
  const issuers = judgeIssuers(asked, policies);
  const [preferred = policies[0]] = policies.filter(({ authority }) =>
    issuers.mayIssue.includes(authority),
  );
  const method = preferred?.method ?? methodFor(name, () => true);
  const others = policies.filter((one) => one.method !== method);
  const exceptions = Object.fromEntries(others.map((one) => [one.authority, one.method]));
  const onlyByDns = policies
    .filter((one) => !needsTraffic(one.method) && !overHttp.some((method) => mayBe(one, method)))
    .map(({ authority }) => authority);
  const validation = {
    ...{ delegated, method },
    ...(others.length > 0 && { exceptions }),
    ...(onlyByDns.length > 0 && { onlyByDns }),
  };
  return { ...issuers, validation };
};

/** Where only the delegation would make it possible, nobody can say that CAA forbids it while that is unknown. */
const unlessDelegated = (without: Judged, delegated: Judged, seen: readonly Finding[]): Judged => {
  const isForbidden = ({ issuance }: Judged) => agreementOf(issuance) === 'wrong';
  if (!isForbidden(without) || isForbidden(delegated)) return without;
  const issuance = seen.map((one, at): Finding => {
    const { issuance: by } = one.kind === 'right' ? delegated : without;
    return one.kind === 'failed' ? one : (by[at] ?? one);
  });
  return { ...without, issuance };
};
