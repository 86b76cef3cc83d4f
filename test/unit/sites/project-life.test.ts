import { describe, expect, test } from '@jest/globals';
import { endsAt, hasEnded, isRestorable } from '../../../src/kernel/deletion.ts';
import { slugOf } from '../../../src/sites/domain/project.ts';
import {
  deleteProject,
  endProject,
  renameProject,
  restoreProject,
} from '../../../src/sites/domain/project-life.ts';
import type { Deploy, Site } from '../../../src/sites/domain/site.ts';
import { byOperator } from '../../support/sites/sites.ts';
import { later, now } from '../../support/accounts.ts';

const day = 24 * 60 * 60_000;
const project = {
  id: 'proj_1',
  accountId: 'acct_1',
  name: 'Birds',
  slug: 'birds',
  createdAt: later(-1000),
  deletedAt: undefined,
};
const deploy = (number: number, state: 'succeeded' | 'uploading'): Deploy => {
  const common = { ...byOperator, id: `dep_${String(number)}`, number, startedAt: now };
  return state === 'uploading'
    ? { ...common, state }
    : { ...common, state, finishedAt: now, files: 1, bytes: 10 };
};
const site: Site = {
  project,
  deploys: [deploy(2, 'uploading'), deploy(1, 'succeeded')],
  servedDeployId: 'dep_1',
  servedSince: now,
  lastNumber: 2,
};
const ofProject = { accountId: 'acct_1', projectId: 'proj_1', occurredAt: now };

describe('a project can be renamed', () => {
  test('and keeps its address', () => {
    const { state, events, former } = renameProject(site, { name: ' Fish ', slug: 'birds' }, now);
    expect(state.project).toEqual({ ...project, name: 'Fish' });
    expect(events).toEqual([
      { type: 'project_renamed', ...ofProject, name: 'Fish', slug: 'birds' },
    ]);
    expect(former).toBeUndefined();
  });

  test('and moved, and its former address is reserved for 90 days', () => {
    const { state, events, former } = renameProject(site, { name: 'Birds', slug: 'Fish' }, now);
    expect(state.project.slug).toBe('fish');
    expect(events).toMatchObject([{ slug: 'fish', from: 'birds' }]);
    expect(former).toEqual({ slug: 'birds', until: later(90 * day) });
  });

  test('to its present name and address, which changes nothing', () => {
    expect(renameProject(site, project, now)).toEqual({
      state: site,
      events: [],
      former: undefined,
    });
  });

  test.each([
    ['birds--7', 'slug_invalid'],
    ['-birds', 'slug_invalid'],
    ['birds-', 'slug_invalid'],
    ['bi.rds', 'slug_invalid'],
    ['vögel', 'slug_invalid'],
    ['', 'slug_invalid'],
    ['b'.repeat(49), 'slug_invalid'],
    ['www', 'slug_reserved'],
  ])('but not moved to the address "%s"', (slug, code) => {
    expect(() => renameProject(site, { name: 'Birds', slug }, now)).toThrow(
      expect.objectContaining({ code }),
    );
  });
});

test.each(['a--b', 'a – b', `${'a'.repeat(47)}--b`, '--', 'a -- b -- c'])(
  'an address made from a name never has two hyphens in a row: %s',
  (name) => {
    expect(slugOf(name)).not.toContain('--');
  },
);

test('deleting a project ends its uploads, and the project shows until when it can be restored', () => {
  const { state, events } = deleteProject(site, now);
  expect(state).toEqual({
    ...site,
    project: { ...project, deletedAt: now },
    deploys: [deploy(1, 'succeeded')],
  });
  const until = later(7 * day).toISOString();
  expect(events).toEqual([
    { type: 'project_deleted', ...ofProject, slug: 'birds', name: 'Birds', until },
    { type: 'deploy_discarded', ...ofProject, deployId: 'dep_2' },
  ]);
});

test('a deleted project can be restored for 7 days and is removed an hour later, so that differing clocks cannot do both', () => {
  const { state: deleted } = deleteProject(site, now);
  const lastMoment = later(7 * day - 1);
  expect(restoreProject(deleted, lastMoment)).toEqual({
    state: { ...deleted, project },
    events: [{ type: 'project_restored', ...ofProject, occurredAt: lastMoment, slug: 'birds' }],
  });
  expect(() => restoreProject(deleted, later(7 * day))).toThrow(
    expect.objectContaining({ code: 'project_not_restorable' }),
  );
  const ends = endsAt(now).getTime() - now.getTime();
  expect(ends).toBe(7 * day + day / 24);
  for (const ms of [0, 7 * day, ends - 1]) expect(hasEnded(deleted.project, later(ms))).toBe(false);
  expect(hasEnded(deleted.project, later(ends))).toBe(true);
  expect([isRestorable(project, now), hasEnded(project, later(900 * day))]).toEqual([false, false]);
});

test('the removal of a project deletes the files of all its deploys', () => {
  expect(endProject(site, now)).toEqual([
    { type: 'project_ended', ...ofProject, slug: 'birds' },
    { type: 'deploy_discarded', ...ofProject, deployId: 'dep_2' },
    { type: 'deploy_discarded', ...ofProject, deployId: 'dep_1' },
  ]);
});
