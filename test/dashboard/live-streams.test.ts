import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { html } from '../../src/adapters/dashboard/html.ts';
import { LiveStreams } from '../../src/adapters/dashboard/live-streams.ts';
import type { Screen, Visit } from '../../src/adapters/dashboard/screen.ts';
import { StoredSignal } from '../../src/adapters/events/stored-signal.ts';
import { SettableClock } from '../../src/adapters/memory/settable-clock.ts';

type Context = Parameters<LiveStreams['open']>[0];

const now = new Date('2026-03-01T10:00:00Z');
const signal = new StoredSignal();
let streams: LiveStreams;
beforeEach(() => {
  jest.useFakeTimers();
  streams = new LiveStreams({
    clock: new SettableClock(now),
    log: pino({ level: 'silent' }),
    onStored: (listener) => signal.listen(listener),
    stillSignedIn: () => Promise.resolve(true),
  });
});
afterEach(() => {
  streams.close();
  jest.useRealTimers();
});

/** A page of that account is open. @param work that making it takes @returns how often it was begun */
const open = (accountId: string, work = () => Promise.resolve()): { times: number } => {
  const made = { times: 0 };
  const screen: Pick<Screen, 'path' | 'show'> = {
    path: '/dashboard/animals',
    show: async () => {
      made.times += 1;
      await work();
      return { title: 'Animals', content: html`${made.times}` };
    },
  };
  const signedIn = { person: { id: `pers_of_${accountId}` } };
  const visit = { signedIn, accountId, parameters: {}, query: new URLSearchParams(), now };
  const ctx = { set: () => undefined };
  streams.open(ctx as unknown as Context, {
    screen: screen as Screen,
    visit: visit as unknown as Visit,
  });
  return made;
};

/** Less than until the next look at what other processes stored. */
const aMoment = 1000;

test('what happens to an account makes its pages anew, and nobody else’s', async () => {
  const [mine, others] = [open('acct_1'), open('acct_2')];
  await jest.advanceTimersByTimeAsync(0);
  expect([mine.times, others.times]).toEqual([1, 1]);
  signal.raise(['acct_3', 'acct_1']);
  await jest.advanceTimersByTimeAsync(aMoment);
  expect([mine.times, others.times]).toEqual([2, 1]);
});

test('what other processes store is looked for every two seconds, for everybody', async () => {
  const [mine, others] = [open('acct_1'), open('acct_2')];
  await jest.advanceTimersByTimeAsync(2000);
  expect([mine.times, others.times]).toEqual([2, 2]);
});

test('a change that comes while a page is being made shows too, however long that takes', async () => {
  let finish = (): void => undefined;
  const mine = open('acct_1', () => new Promise((resolve) => (finish = resolve)));
  await jest.advanceTimersByTimeAsync(0);
  signal.raise(['acct_1']);
  await jest.advanceTimersByTimeAsync(aMoment);
  expect(mine.times).toBe(1);
  finish();
  await jest.advanceTimersByTimeAsync(aMoment / 2);
  expect(mine.times).toBe(2);
});

test('many changes in a row are one', async () => {
  const mine = open('acct_1');
  await jest.advanceTimersByTimeAsync(0);
  for (let i = 0; i < 20; i++) signal.raise(['acct_1']);
  await jest.advanceTimersByTimeAsync(aMoment);
  expect(mine.times).toBe(2);
});
