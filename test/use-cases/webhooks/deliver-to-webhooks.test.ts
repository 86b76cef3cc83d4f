import { beforeEach, describe, expect, test } from '@jest/globals';
import { deleteAccount } from '../../../src/access/domain/account.ts';
import type { Outcome } from '../../../src/notifications/domain/webhook-delivery.ts';
import type { OwnersNotification } from '../../../src/notifications/domain/payload.ts';
import type { ClaimedDelivery } from '../../../src/notifications/webhook-ports.ts';
import { later, newAccount, now } from '../../support/accounts.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import type { Stores } from '../../support/stores.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { callingOver } from '../../support/webhooks/receivers.ts';
import { allDue } from '../../support/webhooks/stored-webhook.ts';

const delivered: Outcome = { kind: 'answered', status: 204, beginning: '', tookMs: 3 };

const open = storesOfTests();
let ports: Stores;
let accountId: string;
let calls: ReturnType<typeof callingOver>['calls'];
let asked: (readonly [accountId: string, host: string])[];
let called: { readonly address: string; readonly body: string }[];
beforeEach(async () => {
  ports = await open();
  accountId = await newAccount(ports);
  called = [];
  const post = (address: string, { body }: { readonly body: string }) => {
    called.push({ address, body });
    return Promise.resolve(delivered);
  };
  asked = [];
  const admit = (...of: readonly [string, string]) => {
    if (of[1] === 'busy.example') return Promise.reject(new Error('too many'));
    return Promise.resolve(void asked.push(of));
  };
  calls = callingOver(ports, { post }, { clock: new SettableClock(now), admit }).calls;
});

const banned = (id: string): OwnersNotification => ({
  id,
  accountId,
  occurredAt: now,
  kind: 'key.banned',
  about: { keyId: 'key_1', name: 'Till', until: '2026-03-02' },
});
const add = async (kinds: readonly string[], host = 'zoo.example') => {
  const { webhook } = await calls.addWebhook(accountId, { address: `https://${host}/`, kinds });
  return { accountId, webhookId: webhook.id };
};
const claim = (): Promise<readonly ClaimedDelivery[]> =>
  ports.webhookDeliveries.claim(later(1000), later(60_000), allDue);

test('only active webhooks of the account that want the kind get a delivery', async () => {
  const wanting = await add(['key.banned']);
  await add(['domain.live']);
  await calls.switchWebhookOff(await add(['key.banned']));
  const other = await newAccount(ports);
  await calls.addWebhook(other, { address: 'https://other.example/', kinds: ['key.banned'] });
  await calls.tellWebhooks(banned('evt_1'));
  await calls.tellWebhooks(banned('evt_1'));
  expect((await claim()).map(({ delivery }) => delivery.webhookId)).toEqual([wanting.webhookId]);
});

test('a webhook of a deleted account is not called, even for waiting deliveries', async () => {
  const of = await add(['key.banned']);
  await calls.tellWebhooks(banned('evt_1'));
  await ports.accounts.change(accountId, (account) => deleteAccount(account, now));
  const [waiting] = await claim();
  await calls.attemptDelivery(waiting!);
  expect(called).toEqual([]);
  expect(await calls.listDeliveries(of, 10)).toMatchObject([{ progress: { state: 'cancelled' } }]);
});

test('an event that concerns one person sends no message', async () => {
  await add(['key.banned']);
  const personal = { kind: 'password.changed', about: { email: 'keeper@zoo.example' } } as const;
  await calls.tellWebhooks({ ...banned('evt_1'), ...personal } as never);
  expect(await claim()).toEqual([]);
});

test('a test goes to one webhook, whatever its kinds, once for each request', async () => {
  const of = await add(['domain.live']);
  await add(['domain.live']);
  const asked = {
    type: 'webhook_tested',
    accountId,
    occurredAt: now,
    webhookId: of.webhookId,
    receiver: 'zoo.example',
  } as const;
  await calls.pingWebhook('evt_7', asked);
  await calls.pingWebhook('evt_7', asked);
  const [one, ...others] = await claim();
  expect([one!.delivery.messageId, others]).toEqual(['evt_7', []]);
  expect(JSON.parse(one!.delivery.body)).toEqual({
    type: 'test.ping',
    timestamp: now.toISOString(),
    data: { accountId, webhookId: of.webhookId },
  });
});

describe('a test, or a delivery that is sent again,', () => {
  test('counts for its account and host, whatever the port', async () => {
    const of = await add(['key.banned'], 'zoo.example:8443');
    await calls.tellWebhooks(banned('evt_1'));
    const [delivery] = await calls.listDeliveries(of, 1);
    await calls.testWebhook(of);
    await calls.repeatDelivery(of, delivery!.id);
    expect(asked).toEqual(Array(2).fill([accountId, 'zoo.example']));
  });

  test('is refused without an event when there were too many', async () => {
    const of = await add(['key.banned'], 'busy.example');
    await calls.tellWebhooks(banned('evt_1'));
    const [delivery] = await calls.listDeliveries(of, 1);
    const before = await ports.events();
    await expect(calls.testWebhook(of)).rejects.toThrow('too many');
    await expect(calls.repeatDelivery(of, delivery!.id)).rejects.toThrow('too many');
    expect(await ports.events()).toEqual(before);
  });

  test('of another account does not count', async () => {
    const { webhookId } = await add(['key.banned']);
    const foreign = { accountId: await newAccount(ports), webhookId };
    await expect(calls.testWebhook(foreign)).rejects.toHaveProperty('code', 'webhook_not_found');
    const again = calls.repeatDelivery(foreign, 'whd_1');
    await expect(again).rejects.toHaveProperty('code', 'webhook_not_found');
    expect(asked).toEqual([]);
  });
});

describe('a claimed delivery', () => {
  test('is not sent once its webhook is off or removed, and ends', async () => {
    const [off, removed] = [await add(['key.banned']), await add(['key.banned'], 'b.example')];
    await calls.tellWebhooks(banned('evt_1'));
    const switched = await ports.webhooks.find(off);
    await calls.switchWebhookOff(off);
    await calls.removeWebhook(removed);
    const message = { accountId, id: 'evt_2', type: 'key.banned', body: '{}' };
    await ports.webhookDeliveries.add(message, [switched!], now);
    for (const one of await claim()) await calls.attemptDelivery(one);
    expect(called).toEqual([]);
    const listed = await calls.listDeliveries(off, 10);
    expect(listed.map(({ progress }) => progress.state)).toEqual(['cancelled', 'cancelled']);
  });

  test('that cannot be signed counts as a failed attempt, but its webhook does not count as failing', async () => {
    const of = await add(['key.banned']);
    await calls.tellWebhooks(banned('evt_1'));
    const noKey = new Error('sealed under another key');
    const [claimed] = await claim();
    const secrets = () => {
      throw noKey;
    };
    const { outcome, fault } = await calls.attemptDelivery({ ...claimed!, secrets });
    expect([outcome, fault]).toMatchObject([{ kind: 'failed', why: 'unsigned' }, noKey]);
    expect(called).toEqual([]);
    expect(await calls.listDeliveries(of, 1)).toMatchObject([
      { failures: 1, progress: { state: 'waiting' }, attempts: [{ why: 'unsigned' }] },
    ]);
    expect((await ports.webhooks.find(of))?.status).toMatchObject({ failingSince: undefined });
  });

  test("that an address refuses permanently is sent to the owner's new address, which stays on", async () => {
    const of = await add(['key.banned']);
    await calls.tellWebhooks(banned('evt_1'));
    const moved = { address: 'https://moved.example/', kinds: ['key.banned'] };
    const gone: Outcome = { ...delivered, status: 410 };
    const outside = {
      post: async () => {
        await calls.changeWebhook(of, moved);
        return gone;
      },
    };
    const [claimed] = await claim();
    await callingOver(ports, outside).calls.attemptDelivery(claimed!);
    expect(await ports.webhooks.find(of)).toMatchObject({
      address: moved.address,
      status: { state: 'on', failingSince: undefined },
    });
    expect(await calls.listDeliveries(of, 1)).toMatchObject([
      { failures: 1, progress: { state: 'waiting' }, attempts: [{ status: 410 }] },
    ]);
  });

  test('is sent to the current address of the webhook', async () => {
    const of = await add(['key.banned']);
    await calls.tellWebhooks(banned('evt_1'));
    await calls.changeWebhook(of, { address: 'https://moved.example/', kinds: ['key.banned'] });
    for (const one of await claim()) await calls.attemptDelivery(one);
    expect(called.map(({ address }) => address)).toEqual(['https://moved.example/']);
    expect(await calls.listDeliveries(of, 1)).toMatchObject([
      { progress: { state: 'delivered' }, attempts: [{ status: 204 }] },
    ]);
  });
});

test('a call whose lease ends before it starts, as after a clock jump, is made once and its result is stored', async () => {
  const of = await add(['key.banned']);
  await calls.tellWebhooks(banned('evt_1'));
  const clock = new SettableClock(now);
  const answer = Promise.withResolvers<Outcome>();
  let posts = 0;
  const outside = {
    post: () => {
      posts += 1;
      return answer.promise;
    },
  };
  const { pump } = callingOver(ports, outside, { clock });
  await pump.run();
  clock.advance(3_600_000);
  await pump.run();
  answer.resolve(delivered);
  await pump.stop();
  expect(posts).toBe(1);
  expect(await calls.listDeliveries(of, 1)).toMatchObject([{ progress: { state: 'delivered' } }]);
});
