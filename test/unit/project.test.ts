import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../support/any-text.ts';
import { CountingIds } from '../../src/adapters/memory/counting-ids.ts';
import { SettableClock } from '../../src/adapters/memory/settable-clock.ts';
import { createProject, slugOf } from '../../src/sites/domain/project.ts';
import type { SiteFiles, SiteUnpacking } from '../../src/sites/ports.ts';
import { startProject } from '../../src/sites/use-cases/start-project.ts';
import { accountDecision, keyDecision, now, personDecision } from '../support/accounts.ts';
import { memoryPorts } from '../support/memory-ports.ts';
import { mustNotBeUsed } from '../support/strict-fake.ts';

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

test('a new project has a trimmed name and tells of itself', () => {
  const event = { accountId: 'acct_1', occurredAt: now, projectId: 'proj_1', slug: 'birds' };
  expect(createProject({ ...draft, name: ' Birds ' }, now)).toEqual({
    state: { ...draft, name: 'Birds', createdAt: now },
    events: [{ type: 'project_created', ...event }],
  });
});

test.each([' ', 'x'.repeat(101)])('a project cannot be called "%s"', (name) => {
  const creating = () => createProject({ ...draft, name }, now);
  expect(creating).toThrow(expect.objectContaining({ code: 'project_invalid' }));
});

describe('starting a project', () => {
  const openProjects = async () => {
    const { accounts, projects, edgeRecords } = memoryPorts();
    const owners = [accountDecision(), accountDecision()] as const;
    for (const owner of owners) {
      const { id } = owner.state;
      await accounts.open(owner, keyDecision(id), personDecision(id));
    }
    const files = mustNotBeUsed<SiteFiles>('files');
    const unpacking = mustNotBeUsed<SiteUnpacking>('unpacking');
    const [ids, clock] = [new CountingIds(), new SettableClock(now)];
    return {
      startProject: startProject({ projects, edgeRecords, files, unpacking, ids, clock }),
      listProjects: (accountId: string) => projects.list(accountId),
      mine: owners[0].state.id,
      theirs: owners[1].state.id,
    };
  };

  test('finds a free slug for a name that any account has taken already', async () => {
    const { startProject, listProjects, mine, theirs } = await openProjects();
    await startProject(theirs, 'Birds');
    const started = [await startProject(mine, 'Birds!'), await startProject(mine, 'birds')];
    expect(started.map(({ slug }) => slug)).toEqual(['birds-2', 'birds-3']);
    expect(await listProjects(mine)).toEqual(started);
  });

  test('gives twenty rivals of one name twenty slugs', async () => {
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
});
