import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { OwnersNotification } from '../../src/notifications/domain/payload.ts';
import { firstSecret } from '../../src/notifications/domain/webhook.ts';
import { newAccount, now } from '../support/accounts.ts';
import { openStores, type Stores } from '../support/stores.ts';
import { until } from '../support/until.ts';
import { callingOver, idOf, isSignedWith, Receivers } from '../support/webhooks/receivers.ts';
import { storedWebhook } from '../support/webhooks/stored-webhook.ts';
import { realOutside } from '../support/webhooks/real-outside.ts';

let stores: Stores;
let receivers: Receivers;
let accountId: string;
let next = 0;
beforeEach(async () => {
  stores = await openStores('sqlite');
  receivers = await Receivers.open();
  accountId = await newAccount(stores);
});
afterEach(async () => {
  await receivers.close();
  await stores.close();
});

const notification = (): OwnersNotification => ({
  id: `evt_call_${(next += 1)}`,
  accountId,
  occurredAt: now,
  kind: 'key.banned',
  about: { keyId: 'key_1', name: 'Till', until: '2026-03-02T00:00:00.000Z' },
});
const draftTo = (number: number) => ({ address: receivers.urlOf(number), kinds: ['key.banned'] });

test('a message is the same at each attempt, with a new time and a valid signature', async () => {
  const { calls, pump } = callingOver(stores, realOutside());
  const { webhook, secret } = await calls.addWebhook(accountId, draftTo(1));
  const of = { accountId, webhookId: webhook.id };
  receivers.answer = (_received, response) => {
    response.writeHead(503).end('x'.repeat(5000));
  };
  const told = notification();
  await calls.tellWebhooks(told);
  await pump.run();
  const [failed] = await until('it failed', async () => {
    const all = await calls.listDeliveries(of, 1);
    return all[0]?.failures === 1 && all;
  });
  expect(failed!.attempts).toMatchObject([{ status: 503, beginning: 'x'.repeat(1024) }]);
  receivers.answer = (_received, response) => {
    response.writeHead(200).end('thanks');
  };
  await calls.repeatDelivery(of, failed!.id);
  await pump.run();
  await until('it succeeded', async () => {
    const [one] = await calls.listDeliveries(of, 1);
    return one?.progress.state === 'delivered';
  });
  await pump.stop();
  expect(receivers.received.map(idOf)).toEqual([told.id, told.id]);
  expect(receivers.received.every((one) => isSignedWith(secret, one))).toBe(true);
  const [first, second] = receivers.received;
  expect(second!.body).toBe(first!.body);
  expect(JSON.parse(first!.body)).toMatchObject({
    type: 'key.banned',
    timestamp: told.occurredAt.toISOString(),
    data: { accountId, keyId: 'key_1' },
  });
});

test('a stop finishes calls under way, and cancels those that hang, which the next worker repeats', async () => {
  const hook = await storedWebhook(stores.webhooks, accountId, draftTo(1));
  const of = { accountId, webhookId: hook.id };
  await stores.webhooks.change(of, (state) => ({
    state,
    events: [],
    secrets: firstSecret('whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0'),
  }));
  receivers.answer = () => undefined;
  const { calls, pump } = callingOver(stores, realOutside(), { graceMs: 50 });
  await calls.tellWebhooks(notification());
  await pump.run();
  await until('it hangs', () => receivers.received.length === 1);
  await pump.stop();
  const [left] = await calls.listDeliveries(of, 1);
  expect(left).toMatchObject({ failures: 0, attempts: [], progress: { state: 'waiting' } });
  receivers.answer = (_received, response) => {
    response.writeHead(204).end();
  };
  const heir = callingOver(stores, realOutside());
  await heir.pump.run();
  await until('the next worker delivers it', async () => {
    const [one] = await calls.listDeliveries(of, 1);
    return one?.progress.state === 'delivered';
  });
  await heir.pump.stop();
});
