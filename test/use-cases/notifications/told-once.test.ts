import { expect, test } from '@jest/globals';
import pino from 'pino';
import { EventBus } from '../../../src/adapters/events/event-bus.ts';
import { OutboxRelay } from '../../../src/adapters/events/outbox-relay.ts';
import { KnownRecipients } from '../../../src/app/known-recipients.ts';
import { subscribersOf } from '../../../src/app/subscriptions.ts';
import { notificationOf, type Named } from '../../../src/app/told.ts';
import type { WatchedDomain } from '../../../src/notifications/domain/watched-domain.ts';
import { notifications } from '../../../src/notifications/notifications.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { newAccount, now } from '../../support/accounts.ts';
import { Life } from '../../support/life.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';
import { astray, hour, minute, watchedDomain } from '../../support/watched-domain.ts';

const project = { id: 'proj_1', slug: 'birds' };
const named: Named = {
  sites: {
    ...mustNotBeUsed<Named['sites']>('sites'),
    listProjects: () => Promise.resolve([project] as never),
  },
  access: mustNotBeUsed('access'),
};

const open = storesOfTests();

/** One domain of one account, and processes that live over the same storage one after the other. */
const world = async () => {
  const ports = await open({
    subscribersOf: (type) =>
      subscribersOf(type).filter((name) => name === 'notices' || name === 'watches'),
  });
  const clock = new SettableClock(now);
  const accountId = await newAccount(ports);
  let domain: WatchedDomain = { ...watchedDomain({}), accountId };
  const about = { accountId, occurredAt: now, projectId: project.id, domainId: domain.id };

  const live = async (life: Life): Promise<void> => {
    const face = notifications({
      notices: life.port(ports.notices),
      watches: life.port(ports.watches),
      domains: { find: () => Promise.resolve(domain) },
      ...{ callers: mustNotBeUsed('callers'), endings: [], clock },
      mails: life.port(ports.mails),
      ...{ mailChoices: ports.mailChoices, postman: undefined },
      recipients: new KnownRecipients(ports.people, ports.accounts),
      sealer: mustNotBeUsed('sealer'),
    });
    const bus = new EventBus({
      notices: async (stored) => {
        const notification = await notificationOf(stored, named);
        if (notification) await face.addNotice(notification);
      },
      watches: () => face.watchDomain(domain.id),
    });
    const relay = new OutboxRelay(life.port(ports.outbox), bus, clock, pino({ enabled: false }));
    for (let runs = 0; runs < 3; runs += 1) {
      await relay.run();
      await face.dueWatches.watchDue(() => false);
    }
  };
  return {
    live,
    happen: async (type: string, next: Partial<Parameters<typeof watchedDomain>[0]>) => {
      domain = { ...watchedDomain(next), accountId };
      await ports.happen({ type, ...about, host: domain.host, reason: 'owner' } as never);
    },
    check: (next: Partial<Parameters<typeof watchedDomain>[0]>) => {
      domain = { ...watchedDomain(next), accountId };
    },
    /** Long enough for every lease and every wait to end. */
    pass: () => {
      clock.advance(hour + 10 * minute);
    },
    now: () => clock.now(),
    told: async () => (await ports.notices.list(accountId, 100)).map(({ kind }) => kind),
  };
};

/** Lives through a chapter, killed at a step, and again by a process that is not. @returns how many steps there are */
const killedAt = async (step: number): Promise<{ steps: number; told: readonly string[] }> => {
  const all = await world();
  let steps = 0;
  let left = step;
  const chapter = async (): Promise<void> => {
    const life = new Life(left);
    await all.live(life).catch(() => undefined);
    steps += life.steps;
    left -= life.steps;
    if (left < 0) {
      left = Infinity;
      all.pass();
      await all.live(new Life(Infinity));
    }
    all.pass();
  };
  const failed = { failed: 3, validity: undefined, trouble: astray };
  await all.happen('certificate_failed', { certificate: failed });
  await chapter();
  await all.happen('domain_live', {});
  await chapter();
  await all.happen('domain_strayed', { dns: { checkedAt: all.now(), astray } });
  await chapter();
  all.check({ dns: { checkedAt: all.now(), astray } });
  await chapter();
  await all.happen('domain_returned', { dns: { checkedAt: all.now() } });
  await chapter();
  await all.happen('domain_removed', { isAttached: false });
  await chapter();
  return { steps, told: await all.told() };
};

const wholeLife = [
  ...['certificate.failing', 'certificate.recovered', 'domain.live'],
  ...['domain.recovered', 'domain.removed', 'domain.unhealthy'],
];

test('the life of a domain is told once, wherever a process is killed', async () => {
  const { steps, told } = await killedAt(Infinity);
  expect([...told].sort()).toEqual(wholeLife);
  expect(steps).toBeGreaterThan(80);
  for (let step = 0; step < steps; step += 1) {
    expect([step, ...(await killedAt(step)).told].sort()).toEqual([step, ...wholeLife].sort());
  }
});
