import { describe, expect, test } from '@jest/globals';
import { startProject } from '../../../src/sites/use-cases/projects.ts';
import { newAccount, now } from '../../support/accounts.ts';
import { CountingIds, SettableClock } from '../../support/settable-clock.ts';
import { allowance } from '../../support/domains/known-domains.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';

const open = storesOfTests();

describe('starting a project', () => {
  const openProjects = async (most = allowance.projects) => {
    const stores = await open();
    const { projects } = stores;
    const plan = { ...allowance, plan: 'Free', projects: most };
    const allowances = { of: () => Promise.resolve(plan) };
    const [ids, clock] = [new CountingIds(), new SettableClock(now)];
    return {
      startProject: startProject({ projects, allowances, ids, clock }),
      listProjects: (accountId: string) => projects.list(accountId),
      mine: await newAccount(stores),
      theirs: await newAccount(stores),
    };
  };

  test('finds a free slug for a name that any account already uses, or that looks like ours', async () => {
    const { startProject, listProjects, mine, theirs } = await openProjects();
    await startProject(theirs, 'Birds');
    const started = [await startProject(mine, 'Birds!'), await startProject(mine, 'birds')];
    expect(started.map(({ slug }) => slug)).toEqual(['birds-2', 'birds-3']);
    expect(await listProjects(mine)).toEqual(started);
    expect((await startProject(mine, ' Admin! ')).slug).toBe('admin-2');
  });

  test('gives twenty concurrent projects of one name twenty slugs', async () => {
    const { startProject, mine } = await openProjects();
    const started = await Promise.all(Array.from({ length: 20 }, () => startProject(mine, 'Cats')));
    expect(new Set(started.map(({ slug }) => slug)).size).toBe(20);
  });

  test('is refused for a wrong name and for an unknown account', async () => {
    const { startProject, mine } = await openProjects();
    await expect(startProject(mine, ' ')).rejects.toHaveProperty('code', 'project_invalid');
    const unknown = startProject('acct_nobody', 'Birds');
    await expect(unknown).rejects.toHaveProperty('code', 'account_not_found');
  });

  test('is refused when the plan has no room, without affecting other accounts', async () => {
    const { startProject, listProjects, mine, theirs } = await openProjects(3);
    for (let n = 0; n < 3; n++) await startProject(mine, 'Birds');
    const refused = await startProject(mine, 'Birds').catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'project_limit_reached' });
    expect(String(refused)).toContain('The plan Free has room for 3 projects');
    expect(await listProjects(mine)).toHaveLength(3);
    await startProject(theirs, 'Birds');
  });
});
