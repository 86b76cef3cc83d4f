import { beforeEach, expect } from '@jest/globals';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import { planAllowances, admitProject, type Project } from '../../../src/sites/domain/project.ts';
import {
  deleteDeploy,
  deployFailed,
  deploySucceeded,
  giveUpUploads,
  rollBack,
  startDeploy,
  type Site,
} from '../../../src/sites/domain/site.ts';
import { admitBytes, roomFor } from '../../../src/sites/domain/storage-quota.ts';
import { uploadProblems } from '../../../src/sites/domain/sites-error.ts';
import { later, newAccount, now, takeEvents } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { begun, newProject, projectDecision, publish } from '../../support/sites/sites.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

const ids = new UuidIds();

describeStores('projects', (stores) => {
  const { projects } = stores;
  let account: string;
  let stranger: string;
  beforeEach(async () => {
    account = await newAccount(stores);
    stranger = await newAccount(stores);
  });

  const decide = (draft: Partial<Project> = {}, at = later(0)) =>
    projectDecision(account, draft, at);
  const added = async (draft: Partial<Project> = {}, at = later(0)): Promise<Project> => {
    const decision = decide(draft, at);
    return projects.add(decision.state.accountId, () => decision);
  };

  testOnBoth(
    'a project is read back as it was created, with the longest name and slug',
    async () => {
      const project = await added({ name: '🐦'.repeat(50), slug: 'b'.repeat(63) });
      expect(await projects.list(account)).toEqual([project]);
    },
  );

  testOnBoth("an account's list holds its own projects only, oldest first", async () => {
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

  test('a slug is unique across all accounts, and a refused project leaves nothing', async () => {
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

  test('a project of an account that does not exist is not created', async () => {
    const adding = added({ accountId: 'acct_nobody' });
    await expect(adding).rejects.toHaveProperty('code', 'account_not_found');
    expect(await projects.list('acct_nobody')).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  testOnBoth('exactly one of twenty concurrent requests gets a slug', async () => {
    const processes = [projects, stores.secondProcess.projects];
    const { won, lost } = await race(20, async (n) => {
      const decision = decide({ slug: 'rivals' });
      return (processes[n % 2] ?? projects).add(account, () => decision);
    });
    expect(won).toHaveLength(1);
    expect(lost).toEqual(Array(19).fill('slug_taken'));
    expect(await projects.list(account)).toEqual(won);
    expect(await takeEvents(stores)).toHaveLength(1);
  });

  test('the decision receives the number of projects, and nothing is stored when it throws', async () => {
    await added({ accountId: stranger });
    const told: number[] = [];
    for (let n = 0; n < 3; n++) {
      const adding = projects.add(account, (current) => {
        told.push(current);
        return refuse();
      });
      await expect(adding).rejects.toBe(refusal);
      await added();
    }
    expect(told).toEqual([0, 1, 2]);
    expect(await projects.list(account)).toHaveLength(3);
  });

  testOnBoth(
    'when twenty requests compete for the last places of a plan, exactly that many get one',
    async () => {
      await added();
      await takeEvents(stores);
      const processes = [projects, stores.secondProcess.projects];
      const { won, lost } = await race(20, (n) =>
        (processes[n % 2] ?? projects).add(account, (current) => {
          admitProject(planAllowances.free, current);
          return decide();
        }),
      );
      expect(won).toHaveLength(2);
      expect(lost).toEqual(Array(18).fill('project_limit_reached'));
      expect(await projects.list(account)).toHaveLength(3);
      expect(await takeEvents(stores)).toHaveLength(2);
    },
  );

  const start = async (project: Project, at = later(0), through = projects): Promise<string> => {
    const id = ids.next('dep');
    await through.change(project, (site) => startDeploy(site, begun(id), at));
    return id;
  };
  const succeed = (project: Project, id: string, through = projects): Promise<Site> =>
    through.change(project, (site) => deploySucceeded(site, id, { files: 1, bytes: 2 }, now));
  const published = async (project: Project): Promise<string> => {
    const id = ids.next('dep');
    await projects.change(project, (site) => publish(site, id));
    return id;
  };

  test('a new project is found by its exact slug, from any account, and has no deploys', async () => {
    const project = await added();
    const site = { project, deploys: [], servedDeployId: undefined, lastNumber: 0 };
    expect(await projects.find(project.slug)).toEqual(site);
    expect(await projects.find(project.slug.toUpperCase())).toBeUndefined();
    expect(await projects.find('nobodys')).toBeUndefined();
  });

  testOnBoth('a deploy is read back unchanged while it uploads and when it succeeded', async () => {
    const project = await newProject(stores, account);
    const id = await start(project, later(-5));
    const uploading = { ...begun(id), number: 1, startedAt: later(-5), state: 'uploading' };
    const site = { project, deploys: [uploading], servedDeployId: undefined, lastNumber: 1 };
    expect(await projects.find(project.slug)).toEqual(site);

    const contents = { files: 10_000, bytes: Number.MAX_SAFE_INTEGER };
    const changed = await projects.change(project, (uploaded) =>
      deploySucceeded(uploaded, id, contents, later(5)),
    );
    const succeeded = { ...uploading, state: 'succeeded', finishedAt: later(5), ...contents };
    expect(changed).toEqual({
      project,
      deploys: [succeeded],
      servedDeployId: id,
      servedSince: later(5),
      lastNumber: 1,
    });
    expect(await projects.find(project.slug)).toEqual(changed);
    expect(await stores.secondProcess.projects.find(project.slug)).toEqual(changed);
  });

  testOnBoth.each(uploadProblems)(
    'a deploy that failed with %s is read back unchanged',
    async (problem) => {
      const project = await newProject(stores, account);
      const id = await start(project);
      const reason = { problem, explanation: `'"\\ ü🐦 ${'x'.repeat(3000)}` };
      const changed = await projects.change(project, (site) =>
        deployFailed(site, id, reason, later(5)),
      );
      const identity = { ...begun(id), number: 1, startedAt: later(0) };
      const failed = { ...identity, state: 'failed', finishedAt: later(5), ...reason };
      expect(changed).toEqual({
        project,
        deploys: [failed],
        servedDeployId: undefined,
        lastNumber: 1,
      });
      expect(await projects.find(project.slug)).toEqual(changed);
    },
  );

  testOnBoth(
    'deploys are listed newest first, and only the kept ones of this project',
    async () => {
      const project = await newProject(stores, account);
      const neighbour = await newProject(stores, account);
      await published(neighbour);
      const neighbours = await projects.find(neighbour.slug);
      const made: string[] = [];
      for (let n = 0; n < 12; n++) made.unshift(await published(project));
      const site = await projects.find(project.slug);
      expect(site?.deploys.map(({ id }) => id)).toEqual(made.slice(0, 10));
      expect(site?.deploys.map(({ number }) => number)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
      expect(site?.servedDeployId).toBe(made[0]);
      expect(await projects.find(neighbour.slug)).toEqual(neighbours);
    },
  );

  test('the number of a deleted deploy is not used again', async () => {
    const project = await newProject(stores, account);
    await published(project);
    await published(project);
    await projects.change(project, (site) => rollBack(site, 1, now));
    await projects.change(project, (site) => deleteDeploy(site, 2, now));
    await published(project);
    const site = await projects.find(project.slug);
    expect(site?.deploys.map(({ number }) => number)).toEqual([3, 1]);
  });

  test('a rollback is stored, and other deploys stay unchanged', async () => {
    const project = await newProject(stores, account);
    const first = await published(project);
    await published(project);
    await start(project);
    const before = await projects.find(project.slug);
    await projects.change(project, (site) => rollBack(site, 1, now));
    expect(await projects.find(project.slug)).toEqual({ ...before, servedDeployId: first });
  });

  test('a change and its events are stored together', async () => {
    const project = await newProject(stores, account);
    const deployId = await published(project);
    const common = { accountId: account, occurredAt: now, projectId: project.id };
    expect(await takeEvents(stores)).toEqual([
      { type: 'deploy_succeeded', ...common, deployId, number: 1 },
    ]);
  });

  test('a change that fails stores nothing', async () => {
    const project = await newProject(stores, account);
    await published(project);
    await takeEvents(stores);
    const before = await projects.find(project.slug);
    await expect(projects.change(project, refuse)).rejects.toBe(refusal);
    expect(await projects.find(project.slug)).toEqual(before);
    expect(await takeEvents(stores)).toEqual([]);
  });

  test("another account's project, or an unknown one, is not changed", async () => {
    const { slug } = await newProject(stores, account);
    for (const key of [
      { accountId: stranger, slug },
      { accountId: account, slug: 'nobodys' },
    ]) {
      const changing = projects.change(key, refuse);
      await expect(changing).rejects.toHaveProperty('code', 'project_not_found');
    }
  });

  testOnBoth('twenty concurrent deploys of one project get twenty numbers', async () => {
    const project = await newProject(stores, account);
    const processes = [projects, stores.secondProcess.projects];
    const { won, lost } = await race(20, (n) => start(project, later(0), processes[n % 2]));
    expect(lost).toEqual([]);
    const site = await projects.find(project.slug);
    const numbers = Array.from({ length: 20 }, (_, n) => 20 - n);
    expect(site?.deploys.map(({ number }) => number)).toEqual(numbers);
    expect(site?.deploys.map(({ id }) => id).sort()).toEqual(won.toSorted());
  });

  testOnBoth('exactly one of twenty concurrent requests finishes a deploy', async () => {
    const project = await newProject(stores, account);
    const id = await start(project);
    const processes = [projects, stores.secondProcess.projects];
    const { won, lost } = await race(20, (n) => succeed(project, id, processes[n % 2]));
    expect(won).toHaveLength(1);
    expect(lost).toEqual(Array(19).fill('deploy_wrong_state'));
    expect(await projects.find(project.slug)).toEqual(won[0]);
    expect(await takeEvents(stores)).toHaveLength(1);
  });

  const keep = (project: Project, id: string, bytes: number, through = projects) =>
    through.changeKept(project, (site, elsewhere) => {
      const facts = { allowance: { plan: 'Free', storedBytes: 1000 }, elsewhere };
      admitBytes(bytes, roomFor(site, id, facts, now));
      return deploySucceeded(site, id, { files: 1, bytes }, now);
    });

  testOnBoth(
    'the storage of an account is the sum of its succeeded deploys in all projects',
    async () => {
      const [first, second] = [
        await newProject(stores, account),
        await newProject(stores, account),
      ];
      const others = await newProject(stores, stranger);
      expect(await projects.keptBytes(account)).toBe(0);
      await start(first);
      for (const project of [first, second, others]) await succeed(project, await start(project));
      for (const reader of [projects, stores.secondProcess.projects])
        expect(await reader.keptBytes(account)).toBe(4);
      const told: number[] = [];
      const asking = projects.changeKept(first, (_, elsewhere) => {
        told.push(elsewhere);
        return refuse();
      });
      await expect(asking).rejects.toBe(refusal);
      expect(told).toEqual([2]);
      await projects.change(second, (site) => publish(site, ids.next('dep')));
      await projects.change(second, (site) => deleteDeploy(site, 1, now));
      expect(await projects.keptBytes(account)).toBe(3);
      const unknown = projects.changeKept({ accountId: stranger, slug: first.slug }, refuse);
      await expect(unknown).rejects.toHaveProperty('code', 'project_not_found');
    },
  );

  testOnBoth(
    'deploys are counted by state over all accounts, with the bytes that they keep',
    async () => {
      const before = await projects.countDeploys();
      const [mine, theirs] = [
        await newProject(stores, account),
        await newProject(stores, stranger),
      ];
      for (const project of [mine, theirs]) await succeed(project, await start(project));
      await start(mine);
      const failing = await start(theirs);
      await projects.change(theirs, (site) =>
        deployFailed(site, failing, { problem: 'archive_unreadable', explanation: '?' }, later(1)),
      );
      const { uploading, succeeded, failed } = before.byState;
      expect(await stores.secondProcess.projects.countDeploys()).toEqual({
        byState: { uploading: uploading + 1, succeeded: succeeded + 2, failed: failed + 1 },
        keptBytes: before.keptBytes + 4,
      });
    },
  );

  testOnBoth(
    "twenty concurrent deploys over several projects store no more than the account's limit",
    async () => {
      const processes = [projects, stores.secondProcess.projects];
      const all = await Promise.all([1, 2, 3].map(() => newProject(stores, account)));
      const uploads: string[] = [];
      for (let n = 0; n < 20; n++) uploads.push(await start(all[n % 3]!));
      const { won, lost } = await race(20, (n) =>
        keep(all[n % 3]!, uploads[n] ?? '', 300, processes[n % 2]),
      );
      expect(won).toHaveLength(3);
      expect(lost).toEqual(Array(17).fill('storage_quota_reached'));
      expect(await projects.keptBytes(account)).toBe(900);
    },
  );

  test('projects with an older upload are found once each, in all accounts', async () => {
    const longAgo = (milliseconds: number) => later(milliseconds - 1e9);
    const sorted = (some: readonly Project[]) => some.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const found = async (milliseconds: number, limit = 100) =>
      sorted(await projects.withUploadsSince(longAgo(milliseconds), limit));
    const [mine, theirs] = [
      await newProject(stores, account),
      await newProject(stores, stranger),
    ] as const;
    for (const project of [mine, mine, theirs]) await start(project, longAgo(5));
    await succeed(mine, await start(mine, longAgo(0)));
    const ended = await newProject(stores, account);
    await succeed(ended, await start(ended, longAgo(5)));

    expect(await found(5)).toEqual([]);
    expect(await found(6)).toEqual(sorted([mine, theirs]));
    expect(await found(6, 1)).toHaveLength(1);
    expect(await projects.oldestUpload()).toEqual(longAgo(5));
    await projects.change(mine, (site) => giveUpUploads(site, later(0)));
    expect(await found(6)).toEqual([theirs]);
  });
});
