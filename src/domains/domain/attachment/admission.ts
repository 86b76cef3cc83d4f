import { DomainError } from '../../../kernel/decision.ts';
import { inWords } from '../../../kernel/text.ts';
import type { DomainsErrorCode } from '../domains-error.ts';
import { shownHost, type Hostname, isWildcard } from '../names/hostname.ts';

export const addsWindowMs = 60 * 60_000;

export interface DomainAllowance {
  readonly plan: string;
  readonly domains: number;
  /** Counts removed domains, because each may have used a certificate. */
  readonly domainsAddedPerHour: number;
  readonly hasWildcards: boolean;
}

export interface AdmissionFacts {
  readonly allowance: DomainAllowance;
  readonly current: number;
  readonly addedLately: readonly Date[];
  readonly hasSucceededDeploy: boolean;
  readonly provenElsewhere: string | undefined;
  readonly attachedTo:
    { readonly name: string; readonly isThisOne: boolean; readonly isDeleted: boolean } | undefined;
}

/**
 * @throws DomainError `plan_upgrade_required`, `no_successful_deploy`, `domain_taken`, `domain_limit_reached`,
 *   `domains_added_too_fast`
 */
export const admitDomain = (hostname: Hostname, facts: AdmissionFacts, now: Date): void => {
  const refusal = whyNotAdmitted(hostname, facts, now);
  if (refusal) throw new DomainError<DomainsErrorCode>(...refusal);
};

type Refusal = readonly [code: DomainsErrorCode, message: string];

export const whyNotAdmitted = (
  hostname: Hostname,
  facts: AdmissionFacts,
  now: Date,
): Refusal | undefined => refusalOf(hostname, facts) ?? tooFast(facts, now);

const refusalOf = (
  hostname: Hostname,
  { allowance, current, hasSucceededDeploy, attachedTo }: AdmissionFacts,
): Refusal | undefined => {
  const { plan, domains, hasWildcards } = allowance;
  if (domains === 0) {
    return ['plan_upgrade_required', 'Custom domains need the plan Pro or above.'];
  }
  if (isWildcard(hostname.host) && !hasWildcards) {
    return [
      'plan_upgrade_required',
      'Wildcard domains need the plan Business or above. On this plan, add each name separately.',
    ];
  }
  if (!hasSucceededDeploy) {
    return ['no_successful_deploy', 'Deploy the project first: there is nothing to serve yet.'];
  }
  if (attachedTo) return ['domain_taken', alreadyAttached(shownHost(hostname), attachedTo)];
  if (current >= domains) {
    return [
      'domain_limit_reached',
      `The plan ${plan} has room for ${domains} domains. Remove one or ask the operator for a larger plan.`,
    ];
  }
  return undefined;
};

const tooFast = (
  { allowance: { plan, domainsAddedPerHour: most }, addedLately }: AdmissionFacts,
  now: Date,
): Refusal | undefined => {
  const at = addedLately[most - 1];
  if (!at) return undefined;
  // At most one window, even if the clock was set back.
  const wait = addsWindowMs - Math.max(0, now.getTime() - at.getTime());
  if (wait <= 0) return undefined;
  const limit = `On the plan ${plan} you can add ${String(most)} domains in an hour, and those that were removed count too.`;
  return ['domains_added_too_fast', `${limit} You can add the next one in ${inWords(wait)}.`];
};

const alreadyAttached = (
  host: string,
  { name, isThisOne, isDeleted }: NonNullable<AdmissionFacts['attachedTo']>,
): string => {
  if (isThisOne) return `${host} is in the list of this project already.`;
  return isDeleted
    ? `Your deleted project "${name}" has ${host}. Restore it and remove the domain there, or wait until it is gone.`
    : `Your project "${name}" has ${host} already. Remove it there before you add it here.`;
};
