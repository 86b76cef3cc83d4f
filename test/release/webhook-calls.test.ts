import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { OwnersNotification } from '../../src/notifications/domain/payload.ts';
import { firstSecret } from '../../src/notifications/domain/webhook.ts';
import { newAccount, now } from '../support/accounts.ts';
import { openStores, type Stores } from '../support/stores.ts';
import { until } from '../support/until.ts';
import { callingOver, Receivers } from '../support/webhooks/receivers.ts';
import { webhookDecision } from '../support/webhooks/stored-webhook.ts';
import { realOutside } from '../support/webhooks/real-outside.ts';

let stores: Stores;
let receivers: Receivers;
beforeEach(async () => {
  stores = await openStores('sqlite');
  receivers = await Receivers.open();
});
afterEach(async () => {
  await receivers.close();
  await stores.close();
});

let next = 0;
const notificationOf = (accountId: string): OwnersNotification => ({
  ...{ id: `evt_call_${(next += 1)}`, accountId, occurredAt: now },
  ...{
    kind: 'key.banned',
    about: { keyId: 'key_1', name: 'Till', until: '2026-03-02T00:00:00.000Z' },
  },
});
const draftTo = (number: number) => ({ address: receivers.urlOf(number), kinds: ['key.banned'] });

test('the receivers that answer are called while 100 of 1000 still hang', async () => {
  const secret = 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0';
  // Ten webhooks for each account, of which one hangs.
  const accounts: string[] = [];
  for (let n = 0; n < 100; n += 1) accounts.push(await newAccount(stores));
  await Promise.all(
    Array.from({ length: 1000 }, (_, n) => {
      const owner = accounts[n % 100]!;
      const decision = webhookDecision(owner, draftTo(n));
      return stores.webhooks.add(owner, () => ({ ...decision, secrets: firstSecret(secret) }));
    }),
  );
  const hanging = new Set(Array.from({ length: 100 }, (_, n) => receivers.urlOf(n)));
  let done = new Set<string>();
  let hung = 0;
  receivers.answer = (received, response) => {
    if (hanging.has(received.at)) {
      hung += 1;
      response.on('close', () => (hung -= 1));
      return;
    }
    done.add(received.at);
    response.writeHead(204).end();
  };
  const patience = { leaseMs: 600_000, longestMs: 600_000 };
  const { calls, pump } = callingOver(stores, realOutside(600_000), {
    graceMs: 0,
    times: patience,
  });
  // The second time, they are known to be slow.
  for (const round of [1, 2]) {
    done = new Set();
    for (const owner of accounts) {
      await calls.tellWebhooks(notificationOf(owner));
    }
    await pump.run();
    await until('the others are called', () => done.size === 900);
    expect({ round, hung }).toEqual({ round, hung: 100 * round });
  }
  await pump.stop();
});
