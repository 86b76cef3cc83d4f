import type { Accounts } from '../access/ports.ts';
import type { Account } from '../access/domain/account.ts';
import { gib, planAllowances, type Allowance } from '../sites/domain/project.ts';
import { Allowances } from '../sites/ports.ts';

export const allowanceOf = ({
  plan,
  siteLimits,
}: Pick<Account, 'plan' | 'siteLimits'>): Allowance => {
  const usual = planAllowances[plan];
  const { projects = usual.projects, domains = usual.domains, storageGib } = siteLimits;
  const storedBytes = storageGib === undefined ? usual.storedBytes : storageGib * gib;
  return { ...usual, projects, domains, storedBytes };
};

export class PlanAllowances extends Allowances {
  readonly #accounts: Pick<Accounts, 'find'>;

  constructor(accounts: Pick<Accounts, 'find'>) {
    super();
    this.#accounts = accounts;
  }

  override async of(accountId: string): Promise<Allowance> {
    const account = await this.#accounts.find(accountId);
    return account ? allowanceOf(account) : planAllowances.free;
  }
}
