import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { UuidIds } from '../../src/adapters/system/uuid-ids.ts';
import { createProject, type Project } from '../../src/sites/domain/project.ts';
import type { Projects } from '../../src/sites/ports.ts';
import { later, newAccount, now, takeEvents } from '../support/accounts.ts';
import { race } from '../support/race.ts';
import { scribble } from '../support/scribble.ts';
import type { Stores } from '../support/stores.ts';

const ids = new UuidIds();

export const projectsContract = (open: () => Promise<Stores>): void => {
  let stores: Stores;
  let projects: Projects;
  let account: string;
  let stranger: string;
  beforeAll(async () => {
    stores = await open();
    projects = stores.projects;
  });
  afterAll(() => stores.close());
  beforeEach(async () => {
    account = await newAccount(stores);
    stranger = await newAccount(stores);
  });

  const decide = (draft: Partial<Project> = {}, at = later(0)) => {
    const id = ids.next('proj');
    const slug = id.replace('_', '-');
    return createProject({ id, accountId: account, name: 'Birds', slug, ...draft }, at);
  };
  const added = async (draft: Partial<Project> = {}, at = later(0)): Promise<Project> => {
    const decision = decide(draft, at);
    await projects.add(decision);
    return decision.state;
  };

  test('a project is given back as it was made, with the longest name and slug', async () => {
    const project = await added({ name: '🐦'.repeat(50), slug: 'b'.repeat(63) });
    expect(await projects.list(account)).toEqual([project]);
  });

  test("an account's list holds its own projects only, oldest first", async () => {
    const younger = await added({}, later(2));
    const older = await added({}, later(1));
    await added({ accountId: stranger });
    expect(await projects.list(account)).toEqual([older, younger]);
    expect(await projects.list('acct_nobody')).toEqual([]);
  });

  test('a project and its event are stored together', async () => {
    const { id, slug } = await added();
    expect(await takeEvents(stores)).toEqual([
      { type: 'project_created', accountId: account, occurredAt: now, projectId: id, slug },
    ]);
  });

  test('a slug is taken for all accounts, and what was refused leaves nothing', async () => {
    const first = await added();
    await takeEvents(stores);
    for (const accountId of [account, stranger]) {
      const adding = added({ accountId, slug: first.slug });
      await expect(adding).rejects.toHaveProperty('code', 'slug_taken');
    }
    expect(await projects.list(account)).toEqual([first]);
    expect(await projects.list(stranger)).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  test('a project of an account that does not exist is not made', async () => {
    const adding = added({ accountId: 'acct_nobody' });
    await expect(adding).rejects.toHaveProperty('code', 'account_not_found');
    expect(await projects.list('acct_nobody')).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  test('exactly one of twenty rivals gets a slug', async () => {
    const processes = [projects, stores.secondProcess.projects];
    const { won, lost } = await race(20, async (n) => {
      const decision = decide({ slug: 'rivals' });
      await (processes[n % 2] ?? projects).add(decision);
      return decision.state;
    });
    expect(won).toHaveLength(1);
    expect(lost).toEqual(Array(19).fill('slug_taken'));
    expect(await projects.list(account)).toEqual(won);
    expect(await takeEvents(stores)).toHaveLength(1);
  });

  test('callers cannot reach into storage through what they gave or got', async () => {
    const decision = decide();
    const kept = structuredClone(decision.state);
    await projects.add(decision);
    scribble(decision.state);
    scribble(await projects.list(account));
    expect(await projects.list(account)).toEqual([kept]);
  });
};
