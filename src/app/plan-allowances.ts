import type { Accounts } from '../access/ports.ts';
import type { Plan } from '../access/domain/quota.ts';
import {
  enterpriseAllowance,
  gib,
  planAllowances,
  type Allowance,
} from '../sites/domain/project.ts';
import { Allowances } from '../sites/ports.ts';
import type { Config } from './settings/config.ts';

type Agreed = Pick<
  Config,
  'enterpriseDomainLimit' | 'enterpriseProjectLimit' | 'enterpriseStorageGib'
>;

export const allowancesByPlan = (config: Agreed): Readonly<Record<Plan, Allowance>> => ({
  ...planAllowances,
  enterprise: enterpriseAllowance({
    projects: config.enterpriseProjectLimit,
    storedBytes: config.enterpriseStorageGib * gib,
    domains: config.enterpriseDomainLimit,
  }),
});

/** The bridge to plans, which another context keeps. */
export class PlanAllowances extends Allowances {
  readonly #accounts: Pick<Accounts, 'find'>;
  readonly #byPlan: Readonly<Record<Plan, Allowance>>;

  constructor(accounts: Pick<Accounts, 'find'>, byPlan: Readonly<Record<Plan, Allowance>>) {
    super();
    this.#accounts = accounts;
    this.#byPlan = byPlan;
  }

  override async of(accountId: string): Promise<Allowance> {
    const account = await this.#accounts.find(accountId);
    return this.#byPlan[account?.plan ?? 'free'];
  }
}
