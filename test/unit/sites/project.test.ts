import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../support/any-text.ts';
import { CountingIds } from '../../support/counting-ids.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { createProject, slugOf } from '../../../src/sites/domain/project.ts';
import { isReservedSlug } from '../../../src/sites/domain/reserved-slugs.ts';
import { startProject } from '../../../src/sites/use-cases/start-project.ts';
import { accountDecision, keyDecision, now, personDecision } from '../../support/accounts.ts';
import { allowance } from '../../support/domains/known-domains.ts';
import { memoryPorts } from '../../support/memory-ports.ts';

describe('the slug of a project', () => {
  test.each([
    ['Birds', 'birds'],
    ["Zoë's Birds!", 'zoes-birds'],
    ['Żółw & Co. — №2', 'zo-w-co-no2'],
    ['  --Ünder_score--  ', 'under-score'],
    ['ＦＵＬＬ　ｗｉｄｔｈ', 'full-width'],
    ['猫', 'site'],
    ['', 'site'],
    [`${'x'.repeat(47)}-y`, 'x'.repeat(47)],
    ['x'.repeat(100), 'x'.repeat(48)],
  ])('of "%s" is "%s"', (name, slug) => {
    expect(slugOf(name)).toBe(slug);
  });

  test('is a DNS label for any name, also with a number behind it', () => {
    const name = fc.oneof(fc.string({ unit: anyCharacter }), fc.string());
    fc.assert(
      fc.property(name, (text) => {
        expect(slugOf(text)).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
        expect(`${slugOf(text)}-1000`.length).toBeLessThanOrEqual(63);
      }),
    );
  });
});

const draft = { id: 'proj_1', accountId: 'acct_1', slug: 'birds' };

test('a new project has a trimmed name and an event', () => {
  const event = { accountId: 'acct_1', occurredAt: now, projectId: 'proj_1', slug: 'birds' };
  expect(createProject({ ...draft, name: ' Birds ' }, now)).toEqual({
    state: { ...draft, name: 'Birds', createdAt: now },
    events: [{ type: 'project_created', ...event }],
  });
});

test.each([' ', 'x'.repeat(101), 'birds\u200e'])('a project cannot be called "%s"', (name) => {
  const creating = () => createProject({ ...draft, name }, now);
  expect(creating).toThrow(expect.objectContaining({ code: 'project_invalid' }));
});

describe('starting a project', () => {
  const openProjects = async (most = allowance.projects) => {
    const { accounts, projects } = memoryPorts();
    const owners = [accountDecision(), accountDecision()] as const;
    for (const owner of owners) {
      const { id } = owner.state;
      await accounts.open(owner, keyDecision(id), personDecision(id));
    }
    const plan = { ...allowance, plan: 'Free', projects: most };
    const allowances = { of: () => Promise.resolve(plan) };
    const [ids, clock] = [new CountingIds(), new SettableClock(now)];
    return {
      startProject: startProject({ projects, allowances, ids, clock }),
      listProjects: (accountId: string) => projects.list(accountId),
      mine: owners[0].state.id,
      theirs: owners[1].state.id,
    };
  };

  test('finds a free slug for a name that any account already uses', async () => {
    const { startProject, listProjects, mine, theirs } = await openProjects();
    await startProject(theirs, 'Birds');
    const started = [await startProject(mine, 'Birds!'), await startProject(mine, 'birds')];
    expect(started.map(({ slug }) => slug)).toEqual(['birds-2', 'birds-3']);
    expect(await listProjects(mine)).toEqual(started);
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

  test.each(['App', 'www', 'API', ' Admin! ', 'Mail', 'static', 'Dashboard', 'ns1', 'WWW2'])(
    'does not give %s an address that looks like ours',
    async (name) => {
      const { startProject, mine } = await openProjects();
      const { slug } = await startProject(mine, name);
      expect(slug).toBe(`${slugOf(name)}-2`);
      const taken = () => createProject({ ...draft, name, slug: slugOf(name) }, now);
      expect(taken).toThrow(expect.objectContaining({ code: 'slug_reserved' }));
      expect(taken).toThrow('could be mistaken for one of this service');
    },
  );

  test.each(['Apple', 'My app', 'Birds', 'Shop', 'Blog', 'Nsync', 'Wwwhat'])(
    'gives %s the address that it asks for',
    async (name) => {
      const { startProject, mine } = await openProjects();
      expect((await startProject(mine, name)).slug).toBe(slugOf(name));
    },
  );

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

test('the target label of a custom domain cannot be a slug', () => {
  const target = `t-${'0123456789abcdef'.repeat(2)}`;
  expect([isReservedSlug(target), isReservedSlug('t-shirts')]).toEqual([true, false]);
});
