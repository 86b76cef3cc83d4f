import type { Allowance } from '../domain/allowance.ts';
import type { SitesPorts } from '../ports.ts';

export interface AccountUse {
  readonly allowance: Allowance;
  readonly projects: number;
  readonly storedBytes: number;
}

export const showUse =
  ({ projects, allowances }: Pick<SitesPorts, 'projects' | 'allowances'>) =>
  async (accountId: string): Promise<AccountUse> => {
    const [allowance, list, storedBytes] = await Promise.all([
      allowances.of(accountId),
      projects.list(accountId),
      projects.keptBytes(accountId),
    ]);
    return { allowance, projects: list.length, storedBytes };
  };
