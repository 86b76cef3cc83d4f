import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Transitions } from '../../../src/kernel/decision.ts';
import {
  deployStates,
  deployTransitions,
  keptDeploys,
  longestUploadMs,
  type DeployState,
  deleteDeploy,
  deployMessage,
  deployFailed,
  deploySucceeded,
  giveUpUploads,
  rollBack,
  startDeploy,
  type Site,
} from '../../../src/sites/domain/site.ts';
import type { SitesEvent } from '../../../src/sites/domain/sites-event.ts';
import { codeOf } from '../../support/race.ts';

const begun = (id: string) => ({ id, madeBy: 'operator', message: undefined }) as const;

const now = new Date('2026-03-01T10:00:00Z');
const later = (ms: number): Date => new Date(now.getTime() + ms);
const project = {
  id: 'proj_1',
  accountId: 'acct_1',
  name: 'Birds',
  slug: 'birds',
  createdAt: later(-1000),
  deletedAt: undefined,
};
const empty: Site = {
  project,
  deploys: [],
  servedDeployId: undefined,
  servedSince: undefined,
  lastNumber: 0,
};
const contents = { files: 3, bytes: 1000 };
const reason = { problem: 'archive_link', explanation: 'No links.' } as const;
const common = { accountId: 'acct_1', occurredAt: now, projectId: 'proj_1' };

const idOf = (number: number): string => `dep_${String(number)}`;
const numbersOf = ({ deploys }: Site): readonly number[] => deploys.map(({ number }) => number);

/** The actions of a test on a site, in order; `+3` starts, `ok3` and `bad3` end, `back3` rolls back. */
const steps: Readonly<Record<string, (site: Site, number: number) => { readonly state: Site }>> = {
  '+': (site, number) => startDeploy(site, begun(idOf(number)), now),
  ok: (site, number) => deploySucceeded(site, idOf(number), contents, now),
  bad: (site, number) => deployFailed(site, idOf(number), reason, now),
  back: (site, number) => rollBack(site, number, now),
};
const after = (story: string, site = empty): Site =>
  story.split(' ').reduce((current, step) => {
    const [, word = '', number] = /^(\D+)(\d+)$/.exec(step) ?? [];
    return steps[word]!(current, Number(number)).state;
  }, site);
const published = (first: number, last: number, site = empty): Site => {
  const numbers = Array.from({ length: last - first + 1 }, (_, n) => first + n);
  return after(numbers.map((n) => `+${String(n)} ok${String(n)}`).join(' '), site);
};

/** The error that a decision throws, or undefined. */
const refusalOf = (decide: () => unknown): unknown => {
  try {
    decide();
    return undefined;
  } catch (error) {
    return error;
  }
};

describe('every command in every state of a deploy', () => {
  const inState: Readonly<Record<DeployState, Site>> = {
    uploading: after('+1'),
    succeeded: after('+1 ok1'),
    failed: after('+1 bad1'),
  };
  const table: Transitions<DeployState> = deployTransitions;
  const mayBecome = (from: DeployState, to: DeployState): boolean => table[from].includes(to);
  const commands = [
    {
      name: 'to record its success',
      isAllowed: (state: DeployState) => mayBecome(state, 'succeeded'),
      decide: (site: Site) => deploySucceeded(site, 'dep_1', contents, now),
      to: { state: 'succeeded', finishedAt: now, ...contents },
    },
    {
      name: 'to record its failure',
      isAllowed: (state: DeployState) => mayBecome(state, 'failed'),
      decide: (site: Site) => deployFailed(site, 'dep_1', reason, now),
      to: { state: 'failed', finishedAt: now, ...reason },
    },
    {
      name: 'to roll back to it',
      isAllowed: (state: DeployState) => state === 'succeeded',
      decide: (site: Site) => rollBack(site, 1, now),
      to: { state: 'succeeded' },
    },
  ] as const;
  const walk = deployStates.flatMap((state) =>
    commands.map((command) => ({ ...command, state, site: inState[state] })),
  );

  test('an upload ends exactly once', () => {
    expect(table).toEqual({ uploading: ['succeeded', 'failed'], succeeded: [], failed: [] });
  });

  test.each(walk)('$name when it is $state', ({ state, site, isAllowed, decide, to }) => {
    const before = structuredClone(site);
    if (isAllowed(state)) {
      expect(decide(site).state.deploys).toEqual([expect.objectContaining(to)]);
    } else {
      const refusal = refusalOf(() => decide(site));
      expect(refusal).toMatchObject({ name: 'DomainError', code: 'deploy_wrong_state' });
      expect(String(refusal)).toContain(`Deploy 1 is ${state}`);
    }
    expect(site).toEqual(before);
  });

  test.each(deployStates)(
    'giving up after an hour fails only an unfinished upload: it is %s',
    (state) => {
      const site = inState[state];
      const given = giveUpUploads(site, later(longestUploadMs + 1));
      const ended = state === 'uploading' ? { state: 'failed' } : { state };
      expect(given.state.deploys).toMatchObject([ended]);
      expect(given.events).toHaveLength(state === 'uploading' ? 1 : 0);
    },
  );

  test('is refused for an unknown deploy', () => {
    for (const decide of [
      () => deploySucceeded(empty, 'dep_1', contents, now),
      () => deployFailed(empty, 'dep_1', reason, now),
      () => rollBack(empty, 1, now),
    ]) {
      expect(codeOf(refusalOf(decide))).toBe('deploy_not_found');
    }
    expect(giveUpUploads(empty, now)).toEqual({ state: empty, events: [] });
  });
});

describe('a new deploy', () => {
  test('uploads under the next number, and nothing is served yet', () => {
    const { state, events } = startDeploy(empty, begun('dep_1'), now);
    const deploy = { ...begun('dep_1'), number: 1, startedAt: now, state: 'uploading' };
    expect(state).toEqual({ project, deploys: [deploy], servedDeployId: undefined, lastNumber: 1 });
    expect(events).toEqual([]);
    expect(numbersOf(after('+1 bad1 +2 ok2 +3'))).toEqual([3, 2, 1]);
  });

  test('has a new number, even when old deploys are deleted', () => {
    expect(numbersOf(after('+26', published(1, 25)))[0]).toBe(26);
    const { state } = deleteDeploy(after('back1', published(1, 3)), 3, now);
    expect(numbersOf(after('+4', state))).toEqual([4, 2, 1]);
  });
});

describe('success', () => {
  test('is recorded, and the deploy is served', () => {
    const { state, events } = deploySucceeded(after('+1'), 'dep_1', contents, now);
    expect(state.servedDeployId).toBe('dep_1');
    expect(events).toEqual([{ type: 'deploy_succeeded', ...common, deployId: 'dep_1', number: 1 }]);
  });

  test.each([
    ['the newest is served, in whatever order they end', '+1 +2 ok1 ok2', 2],
    ['an overtaken one is not served', '+1 +2 ok2 ok1', 2],
    ['a failed one overtakes nothing', '+1 +2 bad2 ok1', 1],
    ['one that still uploads overtakes nothing', '+1 +2 ok1', 1],
    ['a new one is served after a roll back', '+1 ok1 +2 ok2 back1 +3 ok3', 3],
    ['one that began before a roll back is served', '+1 ok1 +2 ok2 +3 back1 ok3', 3],
    ['an overtaken one does not undo a roll back', '+1 ok1 +2 +3 ok3 back1 ok2', 1],
  ])('%s', (_, story, number) => {
    expect(after(story).servedDeployId).toBe(idOf(number));
  });
});

describe('failure', () => {
  test('is recorded with its reason, and the served deploy stays', () => {
    const { state, events } = deployFailed(after('+1 ok1 +2'), 'dep_2', reason, now);
    expect(state.servedDeployId).toBe('dep_1');
    const told = { ...common, deployId: 'dep_2', number: 2, problem: 'archive_link' };
    expect(events).toEqual([{ type: 'deploy_failed', ...told }]);
  });
});

describe('rolling back', () => {
  test('serves an older deploy, and is recorded', () => {
    const { state, events } = rollBack(published(1, 3), 2, now);
    expect(state).toEqual({ ...published(1, 3), servedDeployId: 'dep_2' });
    expect(events).toEqual([{ type: 'site_rolled_back', ...common, deployId: 'dep_2', number: 2 }]);
  });

  test('can go forward again', () => {
    expect(after('back1 back3', published(1, 3)).servedDeployId).toBe('dep_3');
  });

  test('to the served deploy changes nothing', () => {
    const site = published(1, 2);
    expect(rollBack(site, 2, now)).toEqual({ state: site, events: [] });
  });

  test('is refused for a deleted deploy, and the message says how many are kept', () => {
    const refusal = refusalOf(() => rollBack(published(1, 11), 1, now));
    expect(codeOf(refusal)).toBe('deploy_not_found');
    expect(String(refusal)).toContain('birds has no deploy 1; the last 10 are kept');
  });
});

describe('deleting', () => {
  test('removes a deploy that is not served, and records it', () => {
    const { state, events } = deleteDeploy(published(1, 3), 2, now);
    expect(numbersOf(state)).toEqual([3, 1]);
    expect(state.servedDeployId).toBe('dep_3');
    expect(events).toEqual([{ type: 'deploy_deleted', ...common, deployId: 'dep_2', number: 2 }]);
  });

  test('removes a failed deploy too', () => {
    const { state } = deleteDeploy(after('+4 bad4', published(1, 3)), 4, now);
    expect(numbersOf(state)).toEqual([3, 2, 1]);
  });

  test.each([
    ['deploy_wrong_state', published(1, 3), 3],
    ['deploy_wrong_state', after('back1', published(1, 3)), 1],
    ['deploy_wrong_state', after('+4', published(1, 3)), 4],
    ['deploy_not_found', published(1, 3), 4],
    ['deploy_not_found', published(1, 11), 1],
  ])(
    'is refused with %s for a deploy that is served, uploading or missing',
    (code, site, number) => {
      expect(codeOf(refusalOf(() => deleteDeploy(site, number, now)))).toBe(code);
    },
  );
});

describe('old deploys', () => {
  test('are kept up to the tenth, and their removal is recorded', () => {
    expect(numbersOf(published(1, 10))).toHaveLength(10);
    const { state, events } = deploySucceeded(
      after('+11', published(1, 10)),
      'dep_11',
      contents,
      now,
    );
    expect(numbersOf(state)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    const succeeded = { type: 'deploy_succeeded', ...common, deployId: 'dep_11', number: 11 };
    expect(events).toEqual([succeeded, { type: 'deploy_discarded', ...common, deployId: 'dep_1' }]);
  });

  test('are deleted when a deploy failed, too', () => {
    const { state, events } = deployFailed(after('+11', published(1, 10)), 'dep_11', reason, now);
    expect(numbersOf(state)).toHaveLength(10);
    expect(events.at(-1)).toMatchObject({ type: 'deploy_discarded', deployId: 'dep_1' });
  });

  test('are kept while they are served, however old they are', () => {
    const refusals = Array.from({ length: 20 }, (_, n) => `+${String(n + 4)} bad${String(n + 4)}`);
    const site = after(['back2', ...refusals].join(' '), published(1, 3));
    expect(numbersOf(site)).toEqual([23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 2]);
    expect(numbersOf(published(24, 24, site))).not.toContain(2);
  });

  test('are kept while they upload, and when they have just ended, until the next one ends', () => {
    const overtaken = published(2, 13, after('+1'));
    expect(numbersOf(overtaken)).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 1]);
    const { state, events } = deploySucceeded(overtaken, 'dep_1', contents, now);
    expect(state.deploys.at(-1)).toMatchObject({ number: 1, state: 'succeeded' });
    expect(state.servedDeployId).toBe('dep_13');
    expect(events).toMatchObject([{ type: 'deploy_succeeded' }]);
    expect(numbersOf(published(14, 14, state))).not.toContain(1);
  });
});

describe('abandoning uploads', () => {
  test('fails only those that take more than an hour, and says what to do', () => {
    const old = startDeploy(empty, begun('dep_1'), later(-longestUploadMs - 1)).state;
    const limit = startDeploy(old, begun('dep_2'), later(-longestUploadMs)).state;
    const { state, events } = giveUpUploads(after('+3', limit), now);
    expect(state.deploys).toMatchObject([
      { number: 3, state: 'uploading' },
      { number: 2, state: 'uploading' },
      { number: 1, state: 'failed', problem: 'upload_interrupted', finishedAt: now },
    ]);
    expect(state.deploys[2]).toHaveProperty('explanation', expect.stringContaining('Deploy again'));
    const told = { ...common, deployId: 'dep_1', number: 1, problem: 'upload_interrupted' };
    expect(events).toEqual([{ type: 'deploy_failed', ...told }]);
  });

  test('fails all of them at once, and their late results change nothing', () => {
    const { state, events } = giveUpUploads(after('+1 +2'), later(longestUploadMs + 1));
    expect(state.deploys).toMatchObject([{ state: 'failed' }, { state: 'failed' }]);
    expect(events).toHaveLength(2);
    const late = refusalOf(() => deploySucceeded(state, 'dep_1', contents, now));
    expect(codeOf(late)).toBe('deploy_wrong_state');
  });
});

describe('after any sequence of actions', () => {
  const command = fc.record({
    word: fc.constantFrom('+', 'ok', 'ok', 'bad', 'back', 'give up'),
    which: fc.nat(14),
    wait: fc.constantFrom(0, 0, 0, longestUploadMs / 3),
  });

  /** Applies the commands; refused ones change nothing. */
  const play = (commands: readonly { word: string; which: number; wait: number }[]) => {
    let site = empty;
    let at = now;
    let started = 0;
    const happened: (readonly [Site, readonly SitesEvent[], Site])[] = [];
    for (const { word, which, wait } of commands) {
      at = new Date(at.getTime() + wait);
      const deploy = site.deploys[which % Math.max(1, site.deploys.length)];
      const number = deploy?.number ?? 1;
      const decide = () => {
        switch (word) {
          case '+':
            return startDeploy(site, begun(idOf((started += 1))), at);
          case 'ok':
            return deploySucceeded(site, idOf(number), contents, at);
          case 'bad':
            return deployFailed(site, idOf(number), reason, at);
          case 'back':
            return rollBack(site, number, at);
          default:
            return giveUpUploads(site, at);
        }
      };
      try {
        const { state, events } = decide();
        happened.push([site, events, state]);
        site = state;
      } catch (error) {
        if (!/^deploy_(not_found|wrong_state)$/.test(codeOf(error))) throw error;
      }
    }
    return happened;
  };

  test('the served deploy is kept, nothing is lost silently, and no more is kept than promised', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 150, size: 'max' }), (commands) => {
        const gone = new Set<string>();
        for (const [before, events, site] of play(commands)) {
          const { deploys, servedDeployId } = site;
          const served = deploys.find(({ id }) => id === servedDeployId);
          const isServed = (before.servedDeployId ?? servedDeployId) !== undefined;
          const numbers = numbersOf(site);
          const ended = events
            .filter(({ type }) => /^deploy_(succeeded|failed)$/.test(type))
            .at(-1);
          const surplus = deploys
            .slice(keptDeploys)
            .filter(({ id, state }) => id !== servedDeployId && state !== 'uploading');
          if (ended) for (const { id } of surplus) expect(ended).toMatchObject({ deployId: id });

          const discarded = events.flatMap((event) =>
            event.type === 'deploy_discarded' ? [event.deployId] : [],
          );
          const missing = before.deploys.filter(({ id }) => !deploys.some((one) => one.id === id));
          expect({
            served: served?.state,
            numbers,
            discarded: [...discarded].sort(),
            again: discarded.filter((id) => gone.has(id)),
          }).toEqual({
            served: isServed ? 'succeeded' : undefined,
            numbers: [...new Set(numbers)].sort((one, other) => other - one),
            discarded: missing.map(({ id }) => id).sort(),
            again: [],
          });
          for (const id of discarded) gone.add(id);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('the message of a deploy', () => {
  test.each([
    ['Fix the price list', 'Fix the price list'],
    ['  Fix it \n\nIt was wrong.', 'Fix it'],
    ['a\tb\u202ec', 'a b c'],
    ['', undefined],
    [' \n ', undefined],
    ['\u0007', undefined],
    ['😀'.repeat(200), '😀'.repeat(200)],
    ['😀'.repeat(201), `${'😀'.repeat(199)}…`],
  ])('%j becomes %j', (said, kept) => {
    expect(deployMessage(said)).toBe(kept);
  });

  test('is stored with the deploy and who created it', () => {
    const origin = { id: 'dep_1', madeBy: 'key:key_1', message: 'Fix it' } as const;
    const { state } = startDeploy(empty, origin, now);
    expect(deploySucceeded(state, 'dep_1', contents, now).state.deploys).toMatchObject([origin]);
  });
});
