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

test('a receiver takes a message that is signed with its secret', async () => {
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

test('a message that comes twice is noted twice', async () => {
  await receivers.post(address, signed());
  await receivers.post(address, signed());
  expect(receivers.received.map(({ id }) => id)).toEqual(['evt_1', 'evt_1']);
});

test('while a secret is rotated, a receiver that knows either of them takes the message', async () => {
  const message = signed([another, secret]);
  expect(await receivers.post(address, message)).toMatchObject({ status: 200 });
  receivers.tell(address, [another]);
  expect(await receivers.post(address, message)).toMatchObject({ status: 200 });
});

test.each([
  ['without a signature', { headers: {}, body }],
  ['signed with another secret', signed([another])],
  ['of another body than the signed one', { ...signed(), body: `${body} ` }],
  ['that is more than five minutes old', signed([secret], secondsAway(-302))],
  ['of more than five minutes later', signed([secret], secondsAway(360))],
])('a message %s is answered with 401 and noted', async (_what, message) => {
  expect(await receivers.post(address, message)).toMatchObject({ status: 401 });
  expect(receivers.received).toEqual([]);
  expect(receivers.faults).toMatchObject([{ address }]);
});

test('nothing listens at an address that no receiver has, nor at one that refuses', async () => {
  const elsewhere = 'https://other.example/';
  const refused = { kind: 'failed', why: 'refused' };
  expect(await receivers.post(elsewhere, signed())).toMatchObject(refused);
  receivers.weather.set(address, { kind: 'refuses' });
  expect(await receivers.post(address, signed())).toMatchObject(refused);
});

test.each([500, 503, 410, 301] as const)('an answer of %i takes nothing', async (status) => {
  receivers.weather.set(address, { kind: 'answers', status });
  expect(await receivers.post(address, signed())).toMatchObject({ kind: 'answered', status });
  expect(receivers.received).toEqual([]);
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

test('a slow receiver answers when its time has passed', async () => {
  holdTimeouts();
  receivers.weather.set(address, { kind: 'well', slowMs: 4000 });
  const outcome = receivers.post(address, signed());
  await jest.advanceTimersByTimeAsync(4000);
  expect(await outcome).toMatchObject({ kind: 'answered', status: 200, tookMs: 4000 });
});

test('a call that is cancelled ends at once', async () => {
  holdTimeouts();
  receivers.weather.set(address, { kind: 'hangs' });
  const cancelling = new AbortController();
  const outcome = receivers.post(address, signed(), cancelling.signal);
  cancelling.abort();
  expect(await outcome).toMatchObject({ kind: 'failed', why: 'stopped', tookMs: 0 });
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

test('a mail that comes twice is taken twice', async () => {
  expect(await server.post(mail, going)).toEqual({ kind: 'taken' });
  expect(await server.post(mail, going)).toEqual({ kind: 'taken' });
  expect(server.taken).toMatchObject([mail, mail]);
});

test('nobody takes a mail while the server is away', async () => {
  server.weather.server = 'away';
  expect(await server.post(mail, going)).toMatchObject({ kind: 'failed' });
  expect(server.taken).toEqual([]);
});

test.each([
  ['hangs', 0],
  ['losesAnswers', 1],
] as const)('a server that %s is given up after a minute', async (weather, taken) => {
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

test('a server that hangs is given up at once when the process stops', async () => {
  holdTimeouts();
  server.weather.server = 'hangs';
  const stopping = new AbortController();
  const outcome = server.post(mail, stopping.signal);
  stopping.abort();
  expect(await outcome).toMatchObject({ kind: 'failed' });
});
