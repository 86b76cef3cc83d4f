import type { Accounts } from '../access/key-ports.ts';
import { domainLimits, type AdmissionFacts } from '../sites/domain/domain-admission.ts';
import { DomainAllowances } from '../sites/domain-ports.ts';

/** The bridge to plans, which another context keeps. */
export class PlanAllowances extends DomainAllowances {
  readonly #accounts: Pick<Accounts, 'find'>;
  readonly #enterpriseLimit: number;

  constructor(accounts: Pick<Accounts, 'find'>, enterpriseLimit: number) {
    super();
    this.#accounts = accounts;
    this.#enterpriseLimit = enterpriseLimit;
  }

  override async of(accountId: string): Promise<Pick<AdmissionFacts, 'planAllows' | 'limit'>> {
    const { plan = 'free' } = (await this.#accounts.find(accountId)) ?? {};
    const limit = plan === 'enterprise' ? this.#enterpriseLimit : domainLimits[plan];
    return { planAllows: limit > 0, limit };
  }
}
