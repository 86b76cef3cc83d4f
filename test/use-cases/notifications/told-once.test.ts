import { expect, test } from '@jest/globals';
import pino from 'pino';
import { QueueWorker } from '../../../src/adapters/schedule/queue-worker.ts';
import { queueKinds } from '../../../src/app/queues.ts';
import { subscribersOf } from '../../../src/app/subscriptions.ts';
import { notificationOf, type Named } from '../../../src/app/notification-for-event.ts';
import type { DomainChange } from '../../../src/domains/domain/attachment/timeline-entries.ts';
import { recordCheck } from '../../../src/domains/domain/attachment/checks.ts';
import {
  removeDomain,
  type CustomDomain,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { StoredEvent } from '../../../src/kernel/decision.ts';
import { later } from '../../support/accounts.ts';
import { liveDomain, servedProject } from '../../support/domains/custom-domains.ts';
import { badReport, hour, minute, moment, report } from '../../support/domains/known-domains.ts';
import { Life } from '../../support/life.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

const open = storesOfTests();

/** One live domain, and consecutive processes over the same storage. */
const world = async () => {
  const clock = new SettableClock(later(hour));
  const stores = await open({
    clock,
    subscribersOf: (type) => subscribersOf(type).filter((name) => name === 'notices'),
  });
  const project = await servedProject(stores);
  const { id, accountId } = await liveDomain(stores, project);
  const named: Named = {
    sites: {
      ...mustNotBeUsed<Named['sites']>('sites'),
      listProjects: () => Promise.resolve([project] as never),
    },
    access: {
      isInService: () => Promise.resolve(true),
      listApiKeys: () => Promise.reject(new Error('no keys were to be read')),
    },
  };
  const live = async (life: Life, decide: Decide): Promise<void> => {
    const notices = life.port(stores.notices);
    const subscribers = {
      notices: async (stored: StoredEvent) => {
        const notification = await notificationOf(stored, named);
        if (notification) await notices.add(notification);
      },
    };
    await life.port(stores.domains).change(id, (domain) => decide(domain, clock.now()));
    const log = pino({ enabled: false });
    const toDeliver = { outbox: life.port(stores.outbox), subscribers, clock, log };
    const relay = new QueueWorker(queueKinds.events(toDeliver), { clock, log });
    for (let runs = 0; runs < 3; runs += 1) await relay.run();
  };
  return {
    live,
    /** Long enough for every lease and every wait to end. */
    pass: () => {
      clock.advance(hour + 10 * minute);
    },
    told: async () => (await stores.notices.list(accountId, 100)).map(({ kind }) => kind),
  };
};

type Decide = (domain: CustomDomain, now: Date) => DomainChange;

const checked =
  (reported: typeof report): Decide =>
  (domain, now) =>
    recordCheck(domain, reported(now), moment(now));

const chapters: readonly Decide[] = [
  ...[checked(badReport), checked(badReport), checked(report)],
  (domain, now) => removeDomain(domain, 'owner', now),
];

/**
 * Runs the chapters in a process that is killed at a step, and again in another one. @returns the number of
 * steps
 */
const killedAt = async (step: number): Promise<{ steps: number; told: readonly string[] }> => {
  const all = await world();
  let steps = 0;
  let left = step;
  for (const decide of chapters) {
    const life = new Life(left);
    await all.live(life, decide).catch(() => undefined);
    steps += life.steps;
    left -= life.steps;
    if (left < 0) {
      left = Infinity;
      all.pass();
      await all.live(new Life(Infinity), decide);
    }
    all.pass();
  }
  return { steps, told: await all.told() };
};

const wholeLife = ['domain.removed', 'domain.recovered', 'domain.unhealthy'];

test('the problem of a domain is reported once, whenever a process is killed', async () => {
  const { steps, told } = await killedAt(Infinity);
  expect(told).toEqual(wholeLife);
  expect(steps).toBeGreaterThan(30);
  for (let step = 0; step < steps; step += 1) {
    expect([step, ...(await killedAt(step)).told].sort()).toEqual([step, ...wholeLife].sort());
  }
});
