import { DomainError } from '../../kernel/domain-error.ts';
import type { SitesErrorCode } from './sites-error.ts';

/** Custom domains of an account, by plan; on enterprise it is configured. */
export const domainLimits = { free: 0, pro: 5, business: 25 } as const;

/** What decides whether an account may add a domain to a project. */
export interface AdmissionFacts {
  readonly planAllows: boolean;
  readonly limit: number;
  /** Domains of the account that are not removed. */
  readonly current: number;
  readonly hasSucceededDeploy: boolean;
  /** The project of the account that has this very name already. */
  readonly attachedTo: { readonly name: string; readonly isThisOne: boolean } | undefined;
}

/** @throws DomainError `plan_upgrade_required`, `no_successful_deploy`, `domain_taken`, `domain_limit_reached` */
export const admitDomain = (host: string, facts: AdmissionFacts): void => {
  const refusal = refusalOf(host, facts);
  if (refusal) throw new DomainError<SitesErrorCode>(...refusal);
};

const refusalOf = (
  host: string,
  { planAllows, limit, current, hasSucceededDeploy, attachedTo }: AdmissionFacts,
): readonly [code: SitesErrorCode, message: string] | undefined => {
  if (!planAllows) {
    return ['plan_upgrade_required', 'Custom domains need the plan Pro or above.'];
  }
  if (!hasSucceededDeploy) {
    return ['no_successful_deploy', 'Deploy the project first: there is nothing to serve yet.'];
  }
  if (attachedTo) return ['domain_taken', alreadyAttached(host, attachedTo)];
  if (current >= limit) {
    return [
      'domain_limit_reached',
      `The plan has room for ${limit} domains. Remove one or change the plan.`,
    ];
  }
  return undefined;
};

const alreadyAttached = (
  host: string,
  { name, isThisOne }: NonNullable<AdmissionFacts['attachedTo']>,
): string =>
  isThisOne
    ? `${host} is in the list of this project already.`
    : `Your project "${name}" has ${host} already. Remove it there before you add it here.`;
