import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { OutgoingMail } from '../../../src/notifications/ports.ts';
import { holdTimeouts } from '../../support/held-timeouts.ts';
import { MailServer } from './mail-server.ts';

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
