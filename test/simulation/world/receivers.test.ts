import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { SystemClock } from '../../../src/adapters/system/system-ports.ts';
import { StandardSigning } from '../../../src/adapters/webhooks/guarded-outside.ts';
import { holdTimeouts } from '../../support/held-timeouts.ts';
import { Receivers, MailServer } from './receivers.ts';
import type { OutgoingMail } from '../../../src/notifications/ports.ts';

const clock = new SystemClock();
const secondsAway = (seconds: number) => new Date(clock.now().getTime() + seconds * 1000);

const signing = new StandardSigning();
const [secret, another] = [signing.newSecret(), signing.newSecret()];
const address = 'https://hooks.zoo.example/in';
const data = { accountId: 'acc_1', webhookId: 'hook_1' };
const body = JSON.stringify({ type: 'test.ping', timestamp: clock.now().toISOString(), data });

const signed = (secrets: readonly string[] = [secret], at = clock.now()) => ({
  headers: signing.headers({ id: 'evt_1', body }, secrets, at),
  body,
});

let receivers: Receivers;

beforeEach(() => {
  receivers = new Receivers();
  receivers.tell(address, [secret]);
});

afterEach(() => {
  jest.useRealTimers();
});

test('a receiver accepts a message that is signed with its secret', async () => {
  const outcome = await receivers.post(address, signed());
  expect(outcome).toMatchObject({ kind: 'answered', status: 200 });
  const [taken] = receivers.received;
  expect(taken).toMatchObject({
    address,
    id: 'evt_1',
    type: 'test.ping',
    accountId: 'acc_1',
  });
  expect(receivers.faults).toEqual([]);
});

test.each([
  ['without a signature', { headers: {}, body }],
  ['signed with another secret', signed([another])],
  ['with another body than the signed one', { ...signed(), body: `${body} ` }],
  ['that is more than five minutes old', signed([secret], secondsAway(-302))],
  ['from more than five minutes in the future', signed([secret], secondsAway(360))],
])('a message %s is answered with 401 and recorded', async (_what, message) => {
  expect(await receivers.post(address, message)).toMatchObject({ status: 401 });
  expect(receivers.received).toEqual([]);
  expect(receivers.faults).toMatchObject([{ address }]);
});

test.each([
  [{ kind: 'hangs' }, 0],
  [{ kind: 'losesAnswer' }, 1],
  [{ kind: 'well', slowMs: 30_000 }, 1],
] as const)('%j times out after ten seconds', async (weather, taken) => {
  holdTimeouts();
  receivers.weather.set(address, weather);
  const outcome = receivers.post(address, signed());
  await jest.advanceTimersByTimeAsync(10_000);
  expect(await outcome).toMatchObject({ kind: 'failed', why: 'timeout', tookMs: 10_000 });
  expect(receivers.received).toHaveLength(taken);
});

const mail: OutgoingMail = {
  id: 'mail_1',
  to: 'owner@zoo.example',
  account: 'Zoo',
  told: [
    {
      kind: 'domain.live',
      about: { project: 'birds', host: 'birds.example', name: 'birds.example' },
    },
  ],
  unsubscribeToken: undefined,
};

let server: MailServer;
const going = new AbortController().signal;

beforeEach(() => {
  server = new MailServer();
});

afterEach(() => {
  jest.useRealTimers();
});

test('no mail is accepted while the server is unavailable', async () => {
  server.weather.server = 'away';
  expect(await server.post(mail, going)).toMatchObject({ kind: 'failed' });
  expect(server.taken).toEqual([]);
});

test.each([
  ['hangs', 0],
  ['losesAnswers', 1],
] as const)('a server that %s is abandoned after a minute', async (weather, taken) => {
  holdTimeouts();
  server.weather.server = weather;
  let posted = false;
  const outcome = server.post(mail, going).finally(() => {
    posted = true;
  });
  await jest.advanceTimersByTimeAsync(59_999);
  expect(posted).toBe(false);
  await jest.advanceTimersByTimeAsync(1);
  expect(await outcome).toMatchObject({ kind: 'failed' });
  expect(server.taken).toHaveLength(taken);
});
