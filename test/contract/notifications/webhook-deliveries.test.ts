import { beforeEach, expect } from '@jest/globals';
import {
  repeat,
  settle,
  failedWhys,
  type Attempt,
  type DeliveryProgress,
  attemptsOfOnce,
} from '../../../src/notifications/domain/webhook-delivery.ts';
import {
  firstSecret,
  changeWebhook,
  switchOff,
  switchOn,
  type Webhook,
} from '../../../src/notifications/domain/webhook.ts';
import type {
  ClaimedDelivery,
  Claiming,
  DueDelivery,
} from '../../../src/notifications/webhook-ports.ts';
import { later, newAccount, takeEvents } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';
import { allDue, destinationRules, storedWebhook } from '../../support/webhooks/stored-webhook.ts';

const day = 86_400_000;
const lease = 30_000;

describeStores('deliveries to webhooks', (stores) => {
  const { webhookDeliveries: deliveries } = stores;
  let accountId: string;
  let webhook: Webhook;
  let next = 0;
  beforeEach(async () => {
    // Deliveries of earlier tests are claimed.
    for (const isSlow of [false, true])
      await claim({ isSlow, now: later(9 * day), leaseUntil: later(99 * day) });
    accountId = await newAccount(stores);
    webhook = await storedWebhook(stores.webhooks, accountId);
    await takeEvents(stores);
  });

  const message = (id = `evt_hook_${(next += 1)}`) => ({
    accountId,
    id,
    type: 'key.banned',
    body: `{"type":"key.banned","n":"${id}"}`,
  });
  const add = async (to: readonly Webhook[] = [webhook], one = message()) => {
    await deliveries.add(one, to, later(0));
    return one;
  };
  const of = (one = webhook) => ({ accountId, webhookId: one.id });
  const list = (one = webhook) => deliveries.list(of(one), 100);
  const nobody = allDue.except;
  type Draft = Partial<Claiming> & { readonly now?: Date; readonly leaseUntil?: Date };
  const claim = ({ now: at = later(0), leaseUntil = later(lease), ...draft }: Draft = {}) =>
    deliveries.claim(at, leaseUntil, { ...allDue, ...draft });
  const claimOne = async (draft: Draft = {}): Promise<ClaimedDelivery> => (await claim(draft))[0]!;
  const answered = (status: number, draft: Partial<Attempt> = {}): Attempt => ({
    kind: 'answered',
    status,
    beginning: 'thanks',
    tookMs: 12,
    at: later(1),
    ...(draft as object),
  });
  const settled = (claimed: ClaimedDelivery, attempt: Attempt, port = deliveries) =>
    port.settle(claimed, attempt, (current) =>
      settle(current, attempt, { address: claimed.webhook?.address, chance: 0.5 }),
    );
  const idsOf = (some: readonly { readonly messageId: string }[]) =>
    some.map(({ messageId }) => messageId);
  const stateOf = async (one = webhook) => (await list(one))[0]?.progress.state;

  test('each webhook gets its own delivery, which waits and is due at once', async () => {
    const second = await storedWebhook(stores.webhooks, accountId);
    const one = await add([webhook, second]);
    const [kept] = await list();
    expect(kept).toEqual({
      id: kept!.id,
      webhookId: webhook.id,
      accountId,
      messageId: one.id,
      type: one.type,
      body: one.body,
      addedAt: later(0),
      failures: 0,
      attempts: [],
      progress: { state: 'waiting', nextAt: later(0) },
    });
    expect(idsOf(await list(second))).toEqual([one.id]);
    expect(await claim()).toHaveLength(2);
  });

  testOnBoth('when twenty requests add the same message, it is added once', async () => {
    const one = message();
    const { lost } = await race(20, (n) =>
      (n % 2 ? stores : stores.secondProcess).webhookDeliveries.add(one, [webhook], later(n)),
    );
    expect(lost).toEqual([]);
    expect(await list()).toHaveLength(1);
  });

  testOnBoth(
    'a claimed delivery includes its webhook and secrets, and nobody else can claim it until the lease ends',
    async () => {
      const one = await add();
      const claimed = await claimOne();
      expect(claimed).toMatchObject({ delivery: { messageId: one.id, body: one.body }, webhook });
      expect(claimed.secrets()).toEqual(firstSecret('whsec_first'));
      expect(await claim({ now: later(lease - 1) })).toEqual([]);
      expect(idsOf((await claim({ now: later(lease) })).map(({ delivery }) => delivery))).toEqual([
        one.id,
      ]);
    },
  );

  testOnBoth(
    'only chosen deliveries are claimed, in order, and none of excluded webhooks, receivers or accounts',
    async () => {
      const elsewhere = await storedWebhook(stores.webhooks, accountId, {
        address: 'https://other.example:8443/',
      });
      const early = message();
      await deliveries.add(early, [webhook], later(-5));
      await add([webhook, elsewhere]);
      const seen: (readonly DueDelivery[])[] = [];
      const choose = (due: readonly DueDelivery[]) => {
        seen.push(due);
        return due.slice(0, 1);
      };
      expect((await claim({ choose })).map(({ delivery }) => delivery.messageId)).toEqual([
        early.id,
      ]);
      expect(seen[0]!.map(({ receiver }) => receiver).toSorted()).toEqual(
        ['hooks.zoo.example', 'hooks.zoo.example', 'other.example:8443'].toSorted(),
      );
      const noWebhook = { ...nobody, webhooks: [webhook.id] };
      const receiver = 'other.example:8443';
      const noReceiver = { ...nobody, receivers: [{ accountId, receiver }] };
      expect(await claim({ except: { ...nobody, accounts: [accountId] } })).toEqual([]);
      await claim({ choose: () => [], except: noWebhook }).then((none) => {
        expect(none).toEqual([]);
      });
      expect((await claim({ except: noReceiver })).map((one) => one.webhook?.id)).toEqual([
        webhook.id,
      ]);
      expect((await claim({ except: noWebhook })).map((one) => one.webhook?.id)).toEqual([
        elsewhere.id,
      ]);
    },
  );

  const outcomes: readonly Attempt[] = [
    answered(204),
    answered(500),
    ...failedWhys.map((why): Attempt => ({
      kind: 'failed',
      why,
      explanation: `because ${why}`,
      tookMs: 10_000,
      at: later(2),
    })),
  ];
  testOnBoth.each(outcomes)('the attempt %j is read back unchanged', async (attempt) => {
    await add();
    const claimed = await claimOne();
    const settlement = await settled(claimed, attempt);
    const [kept] = await list();
    expect(kept).toEqual({ ...settlement!.delivery, attempts: [attempt] });
    expect(await deliveries.find(of(), kept!.id)).toEqual(kept);
  });

  const progresses: readonly DeliveryProgress[] = [
    { state: 'waiting', nextAt: later(77) },
    ...[{ state: 'delivered' } as const, { state: 'given_up' } as const],
    { state: 'cancelled' },
  ];
  testOnBoth.each(progresses)('a delivery that is %j is read back unchanged', async (progress) => {
    await add();
    const claimed = await claimOne();
    const attempt = answered(500);
    await deliveries.settle(claimed, attempt, ({ delivery, webhook: now }) => ({
      delivery: { ...delivery, failures: 3, progress },
      webhook: now,
      events: [],
    }));
    expect(await list()).toMatchObject([{ failures: 3, progress }]);
  });

  test('a failed delivery is due again at its next time, and its attempts are listed, the newest first', async () => {
    await add();
    const settlement = await settled(await claimOne(), answered(500));
    const { nextAt } = settlement!.delivery.progress as { nextAt: Date };
    expect(await claim({ now: new Date(nextAt.getTime() - 1) })).toEqual([]);
    const again = await claimOne({ now: nextAt });
    await settled(again, answered(200, { at: nextAt }));
    const [kept] = await list();
    expect(kept!.attempts.map((one) => one.kind === 'answered' && one.status)).toEqual([200, 500]);
    expect(kept!.progress).toEqual({ state: 'delivered' });
    expect(await claim({ now: later(9 * day) })).toEqual([]);
  });

  test('a late answer changes nothing once another worker has claimed the delivery', async () => {
    await add();
    const dead = await claimOne();
    const heir = await claimOne({ now: later(lease) });
    const port = stores.secondProcess.webhookDeliveries;
    expect(await settled(dead, answered(410), port)).toBeUndefined();
    expect(await list()).toMatchObject([{ failures: 0, attempts: [] }]);
    expect((await stores.webhooks.find(of()))!.status.state).toBe('on');
    expect(await takeEvents(stores)).toEqual([]);
    expect(await settled(heir, answered(200))).toBeDefined();
    expect(await settled(heir, answered(500))).toBeUndefined();
    expect(await list()).toMatchObject([{ progress: { state: 'delivered' } }]);
  });

  test('attempt, delivery, webhook and events are stored together or not at all', async () => {
    await add();
    const claimed = await claimOne();
    const refuse = () => {
      throw new Error('no');
    };
    await expect(deliveries.settle(claimed, answered(500), refuse)).rejects.toThrow('no');
    expect(await list()).toMatchObject([{ attempts: [], failures: 0 }]);
    await settled(claimed, answered(410));
    expect(await stores.webhooks.find(of())).toMatchObject({
      status: { state: 'off', reason: 'gone' },
    });
    expect(await takeEvents(stores)).toMatchObject([{ type: 'webhook_switched_off' }]);
    expect(await stateOf()).toBe('cancelled');
  });

  test("a slow webhook's deliveries all wait in the slow queue until it is fast again", async () => {
    await add();
    await add();
    const [first] = await claim({ choose: (due) => due.slice(0, 1) });
    await settled(first!, answered(500, { tookMs: 10_000 }));
    expect(await claim({ now: later(lease) })).toEqual([]);
    await add([(await stores.webhooks.find(of()))!]);
    const slow = await claim({ now: later(day), isSlow: true });
    expect(slow).toHaveLength(3);
    for (const one of slow) await settled(one, answered(500, { at: later(day) }));
    expect(await claim({ now: later(2 * day), isSlow: true })).toEqual([]);
    expect(await claim({ now: later(2 * day) })).toHaveLength(3);
  });

  test('a new address counts as another receiver, even for waiting deliveries', async () => {
    await add();
    const draft = { address: 'https://moved.example/', kinds: ['key.banned'] };
    await stores.webhooks.change(of(), (current) =>
      changeWebhook(current, draft, destinationRules, later(1)),
    );
    const receivers = { ...nobody, receivers: [{ accountId, receiver: 'moved.example' }] };
    expect(await claim({ except: receivers })).toEqual([]);
    expect((await claimOne()).webhook?.address).toBe('https://moved.example/');
  });

  test('switching off a webhook cancels its waiting deliveries, and an attempt under way is still stored', async () => {
    await add();
    await add();
    const [under] = await claim({ choose: (due) => due.slice(0, 1) });
    await stores.webhooks.change(of(), (current) => switchOff(current, 'by_hand', later(1)));
    expect(await claim({ now: later(day) })).toEqual([]);
    expect((await list()).map(({ progress }) => progress.state)).toEqual([
      'cancelled',
      'cancelled',
    ]);
    await settled(under!, answered(500));
    expect((await deliveries.find(of(), under!.delivery.id))!.attempts).toHaveLength(1);
    await stores.webhooks.change(of(), (current) => switchOn(current, later(2)));
    expect(await claim({ now: later(day) })).toEqual([]);
  });

  test('waiting deliveries of a removed webhook are not claimed, and an attempt under way changes nothing else', async () => {
    await add();
    await add();
    const [under] = await claim({ choose: (due) => due.slice(0, 1) });
    await stores.webhooks.remove(of(), () => []);
    expect(await claim({ now: later(day) })).toEqual([]);
    expect((await settled(under!, answered(500)))?.webhook).toBeUndefined();
  });

  test('a delivery that was added while its webhook was removed is claimed without one and can be ended', async () => {
    await stores.webhooks.remove(of(), () => []);
    await add();
    const claimed = await claimOne();
    expect([claimed.webhook, claimed.secrets()]).toEqual([undefined, []]);
    await deliveries.settle(claimed, undefined, ({ delivery }) => ({
      delivery: { ...delivery, progress: { state: 'cancelled' } },
      webhook: undefined,
      events: [],
    }));
    expect(await list()).toMatchObject([{ attempts: [], progress: { state: 'cancelled' } }]);
  });

  test('a delivery that is sent again keeps its id and has as many attempts as a new one', async () => {
    const one = await add();
    const claimed = await claimOne();
    await settled(claimed, answered(200));
    const { id } = claimed.delivery;
    await deliveries.repeat(of(), id, (delivery, to) => repeat(delivery, to, later(5)));
    expect(await takeEvents(stores)).toMatchObject([{ type: 'webhook_repeated', deliveryId: id }]);
    const again = await claimOne({ now: later(5) });
    expect(again.delivery).toMatchObject({ id, messageId: one.id, failures: 0 });
    expect((await deliveries.find(of(), id))!.attempts).toHaveLength(1);
  });

  test('a delivery that is sent again and again keeps only the attempts of its last two rounds', async () => {
    await add();
    const { id } = (await list())[0]!;
    for (let n = 0; n < 3 * attemptsOfOnce; n += 1) {
      const claimed = await claimOne({ now: later(n), leaseUntil: later(n + lease) });
      await settled(claimed, answered(200, { at: later(n) }));
      await deliveries.repeat(of(), id, (delivery, to) => repeat(delivery, to, later(n + 1)));
    }
    const { attempts } = (await deliveries.find(of(), id))!;
    expect(attempts).toHaveLength(attemptsOfOnce);
    expect(attempts[0]!.at).toEqual(later(3 * attemptsOfOnce - 1));
  });

  const ping = (id?: string) => ({ ...message(id), type: 'test.ping' });

  testOnBoth('when twenty tests are requested at once, one waits', async () => {
    const { lost } = await race(20, (n) =>
      (n % 2 ? stores : stores.secondProcess).webhookDeliveries.addTest(ping(), webhook, later(n)),
    );
    expect(lost).toEqual([]);
    expect(await list()).toHaveLength(1);
  });

  test('a second test makes a waiting one due now, and becomes a new delivery if none waits', async () => {
    const first = ping();
    await deliveries.addTest(first, webhook, later(0));
    await add();
    const [failed, other] = await claim();
    await settled(failed!, answered(500));
    await settled(other!, answered(500));
    await deliveries.addTest(first, webhook, later(9));
    expect(await claim({ now: later(9) })).toEqual([]);
    await deliveries.addTest(ping(), webhook, later(10));
    const [again, ...rest] = await claim({ now: later(10) });
    expect([again!.delivery.messageId, rest]).toEqual([first.id, []]);
    await deliveries.addTest(ping(), webhook, later(11));
    expect(await claim({ now: later(11) })).toEqual([]);
    await settled(again!, answered(200));
    const second = ping();
    await deliveries.addTest(second, webhook, later(12));
    expect(idsOf((await claim({ now: later(12) })).map(({ delivery }) => delivery))).toEqual([
      second.id,
    ]);
  });

  test('a delivery under way is not sent twice, and no event claims that it was', async () => {
    await add();
    const claimed = await claimOne();
    const { id } = claimed.delivery;
    await deliveries.repeat(of(), id, (delivery, to) => repeat(delivery, to, later(1)));
    expect(await claim({ now: later(1) })).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
    expect(await settled(claimed, answered(200))).toBeDefined();
  });

  test('a delivery of another account, or to a webhook that is off or missing, is not sent again', async () => {
    await add();
    const id = (await list())[0]!.id;
    const again = (draft: { accountId?: string; webhookId?: string }, deliveryId = id) =>
      deliveries.repeat({ ...of(), ...draft }, deliveryId, (delivery, to) =>
        repeat(delivery, to, later(1)),
      );
    const other = await storedWebhook(stores.webhooks, accountId);
    await takeEvents(stores);
    await expect(again({ accountId: await newAccount(stores) })).rejects.toMatchObject({
      code: 'webhook_not_found',
    });
    const noDelivery = { code: 'webhook_delivery_not_found' };
    await expect(again({ webhookId: other.id })).rejects.toMatchObject(noDelivery);
    await expect(again({}, 'whd_none')).rejects.toMatchObject(noDelivery);
    await stores.webhooks.change(of(), (one) => switchOff(one, 'by_hand', later(1)));
    await takeEvents(stores);
    await expect(again({})).rejects.toMatchObject({ code: 'webhook_off' });
    expect(await stateOf()).toBe('cancelled');
  });

  testOnBoth(
    'an account sees only its own deliveries, the newest first, a page at a time',
    async () => {
      const ids = [];
      for (let n = 0; n < 4; n += 1) ids.push((await add()).id);
      const first = await deliveries.list(of(), 2);
      expect(idsOf(first)).toEqual(ids.toReversed().slice(0, 2));
      expect(idsOf(await deliveries.list(of(), 9, first[1]!.id))).toEqual(
        ids.toReversed().slice(2),
      );
      const foreign = { ...of(), accountId: await newAccount(stores) };
      expect(await deliveries.list(foreign, 9)).toEqual([]);
      expect(await deliveries.find(foreign, first[0]!.id)).toBeUndefined();
    },
  );

  testOnBoth(
    'old deliveries are deleted with their attempts, unless they were sent again',
    async () => {
      await add();
      await add();
      const claimed = await claim();
      for (const one of claimed) await settled(one, answered(200, { at: later(0) }));
      const { id } = claimed[0]!.delivery;
      await deliveries.repeat(of(), id, (delivery, to) => repeat(delivery, to, later(5 * day)));
      await stores.retention.sweep('webhook_deliveries', later(day));
      await stores.retention.sweep('webhook_attempts', later(day));
      expect(await list()).toMatchObject([{ id, attempts: [] }]);
    },
  );

  test('the counts show how many deliveries wait, since when, and how many webhooks we switched off', async () => {
    const before = await deliveries.counts(later(10));
    await add();
    await add();
    const counts = await deliveries.counts(later(10));
    expect([counts.waiting - before.waiting, counts.oldestDue]).toEqual([2, later(0)]);
    expect((await deliveries.counts(later(0))).oldestDue).toBeUndefined();
    await settled(await claimOne(), answered(410));
    const after = await deliveries.counts(later(10));
    expect([after.waiting - before.waiting, after.givenUp - before.givenUp]).toEqual([0, 1]);
  });

  test('a message for an account that does not exist is refused', async () => {
    const nobody = { ...message(), accountId: 'acct_nobody' };
    await expect(deliveries.add(nobody, [webhook], later(0))).rejects.toThrow();
  });
});
