import { describe, expect, test } from '@jest/globals';
import { ownersKinds } from '../../../src/notifications/domain/kinds.ts';
import {
  firstSecret,
  rotateSecret,
  signingSecrets,
  type WebhookSecrets,
  addWebhook,
  changeWebhook,
  mostWebhooks,
  removeWebhook,
  switchOff,
  switchOn,
  testWebhook,
  wants,
  type Webhook,
} from '../../../src/notifications/domain/webhook.ts';
import { codeOf } from '../../support/race.ts';
import { later, now } from '../../support/accounts.ts';

const rules = { allowsThisMachine: false };
const draft = { address: 'https://zoo.example/in?key=1', kinds: ['domain.live', 'key.banned'] };
const add = (more: Partial<Parameters<typeof addWebhook>[0]> = {}) =>
  addWebhook({ id: 'hook_1', accountId: 'acct_1', current: 0, ...draft, ...more }, rules, now);
const added = (): Webhook => add().state;
const about = { accountId: 'acct_1', webhookId: 'hook_1', receiver: 'zoo.example' };
const refusal = (act: () => unknown): string => {
  try {
    return `not refused: ${JSON.stringify(act())}`;
  } catch (error) {
    return codeOf(error);
  }
};

test('a new webhook is on, and its event names the host but not the rest of the address', () => {
  const { state, events } = add();
  expect(state).toEqual({
    id: 'hook_1',
    accountId: 'acct_1',
    ...draft,
    createdAt: now,
    oldSecretsUntil: undefined,
    status: { state: 'on', failingSince: undefined, failedAt: undefined, isSlow: false },
  });
  expect(events).toEqual([{ type: 'webhook_added', ...about, occurredAt: now }]);
});

test('all kinds can be chosen, even those of later versions', () => {
  const { state } = add({ kinds: 'all' });
  expect(state.kinds).toBe('all');
  for (const kind of [...ownersKinds, 'ship.sunk' as 'key.banned']) {
    expect(wants(state, kind)).toBe(true);
  }
  const same = changeWebhook(state, { ...draft, kinds: 'all' }, rules, now);
  expect(same.events).toEqual([]);
  expect(changeWebhook(state, draft, rules, now).state.kinds).toEqual(draft.kinds);
});

test('kinds are stored without duplicates in the order of the table, and at least one is required', () => {
  const kinds = ['key.banned', 'domain.live', 'key.banned'];
  expect(add({ kinds }).state.kinds).toEqual(['domain.live', 'key.banned']);
  expect(refusal(() => add({ kinds: [] }))).toBe('webhook_invalid');
  expect(refusal(() => add({ kinds: ['domain.live', 'constructor'] }))).toBe('webhook_invalid');
});

test('a kind that concerns a single person cannot be chosen', () => {
  expect(ownersKinds).not.toContain('sign_in.link');
  expect(refusal(() => add({ kinds: ['sign_in.link'] }))).toBe('webhook_invalid');
});

test('an account has a limited number of webhooks', () => {
  expect(add({ current: mostWebhooks - 1 }).events).toHaveLength(1);
  expect(refusal(() => add({ current: mostWebhooks }))).toBe('webhook_limit_reached');
});

test('an address that is not allowed is refused, when it is added and when it is changed', () => {
  for (const address of ['http://zoo.example/', 'https://127.0.0.1/', 'zoo.example', '']) {
    expect(refusal(() => add({ address }))).toBe('webhook_invalid');
    const act = () => changeWebhook(added(), { ...draft, address }, rules, now);
    expect(refusal(act)).toBe('webhook_invalid');
  }
});

const failing: Webhook = {
  ...added(),
  status: { state: 'on', failingSince: later(-5), failedAt: later(-1), isSlow: true },
};

describe('a change', () => {
  test('that changes nothing has no event', () => {
    const same = changeWebhook(failing, { ...draft }, rules, later(1));
    expect(same).toEqual({ state: failing, events: [] });
  });

  test('of the address resets the failures; a change of the kinds does not', () => {
    const moved = changeWebhook(failing, { ...draft, address: 'https://x.example/' }, rules, now);
    expect(moved.state.status).toMatchObject({ failingSince: undefined, isSlow: false });
    expect(moved.events).toMatchObject([{ type: 'webhook_changed', receiver: 'x.example' }]);
    const fewer = changeWebhook(failing, { ...draft, kinds: ['key.banned'] }, rules, now);
    expect(fewer.state).toEqual({ ...failing, kinds: ['key.banned'] });
  });

  test('does not switch on a webhook that is off', () => {
    const { state: off } = switchOff(added(), 'gone', now);
    const moved = changeWebhook(off, { ...draft, address: 'https://x.example/' }, rules, now);
    expect(moved.state.status).toEqual(off.status);
  });
});

describe('switching a webhook', () => {
  test('off and on is reported once, and resets the failures', () => {
    const off = switchOff(failing, 'by_hand', later(1));
    expect(off.events).toMatchObject([{ type: 'webhook_switched_off', reason: 'by_hand' }]);
    expect(switchOff(off.state, 'gone', later(2))).toEqual({ state: off.state, events: [] });
    const on = switchOn(off.state, later(3));
    expect(on.state.status).toEqual(added().status);
    expect(on.events).toMatchObject([{ type: 'webhook_switched_on' }]);
    expect(switchOn(failing, later(4))).toEqual({ state: failing, events: [] });
  });

  test('off cancels its deliveries, and prevents tests', () => {
    expect(wants(failing, 'key.banned')).toBe(true);
    expect(wants(failing, 'quota.reached')).toBe(false);
    const { state: off } = switchOff(failing, 'by_hand', now);
    expect(wants(off, 'key.banned')).toBe(false);
    expect(refusal(() => testWebhook(off, now))).toBe('webhook_off');
    expect(testWebhook(failing, now)).toMatchObject({
      state: failing,
      events: [{ type: 'webhook_tested' }],
    });
  });
});

test('a removal is reported', () => {
  expect(removeWebhook(added(), now)).toEqual([
    { type: 'webhook_removed', ...about, occurredAt: now },
  ]);
});

describe('a rotation', () => {
  const hour = 3_600_000;
  const rotated = (
    secrets: WebhookSecrets,
    secret: string,
    overlap: '0' | '1h' | '24h',
    at: Date,
  ) => rotateSecret(added(), secrets, { secret, overlap }, at);

  test('makes both secrets sign until the overlap ends', () => {
    const { secrets, state, events } = rotated(firstSecret('one'), 'two', '1h', now);
    expect(state.oldSecretsUntil).toEqual(later(hour));
    expect(events).toMatchObject([{ oldSecretUntil: later(hour).toISOString() }]);
    expect(signingSecrets(secrets, later(hour - 1))).toEqual(['two', 'one']);
    expect(signingSecrets(secrets, later(hour))).toEqual(['two']);
  });

  test('without an overlap ends the old secret at once', () => {
    const { secrets, state } = rotated(firstSecret('one'), 'two', '0', now);
    expect([secrets, state.oldSecretsUntil]).toEqual([firstSecret('two'), undefined]);
  });

  test('keeps older secrets signing, but not longer than before', () => {
    const { secrets: two } = rotated(firstSecret('one'), 'two', '1h', now);
    const { secrets: three } = rotated(two, 'three', '24h', later(1));
    expect(signingSecrets(three, later(hour - 1))).toEqual(['three', 'two', 'one']);
    expect(signingSecrets(three, later(hour))).toEqual(['three', 'two']);
    expect(signingSecrets(three, later(25 * hour))).toEqual(['three']);
    expect(signingSecrets(three, later(26 * hour))).toEqual(['three']);
  });

  test('is refused while five secrets sign, so that none ends early, but is allowed without an overlap', () => {
    let all = firstSecret('one');
    for (const name of ['two', 'three', 'four', 'five']) {
      ({ secrets: all } = rotated(all, name, '24h', now));
    }
    expect(signingSecrets(all, later(1))).toHaveLength(5);
    const sixth = (overlap: '0' | '24h', at: Date) => () => rotated(all, 'six', overlap, at);
    expect(refusal(sixth('24h', later(24 * hour - 1)))).toBe('webhook_limit_reached');
    expect(sixth('24h', later(24 * hour))().secrets).toHaveLength(2);
    expect(sixth('0', later(1))().secrets).toEqual(firstSecret('six'));
  });
});
