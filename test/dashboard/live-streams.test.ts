import type { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { html } from '../../src/adapters/dashboard/frame/html.ts';
import {
  LiveStreams,
  mostStreams,
  type LivePorts,
} from '../../src/adapters/dashboard/frame/live-streams.ts';
import { PageProblem } from '../../src/adapters/dashboard/frame/page-problem.ts';
import { onceInput } from '../../src/adapters/dashboard/frame/form-parts.ts';
import type { Screen, Visit } from '../../src/adapters/dashboard/frame/screen.ts';
import { StoredSignal } from '../../src/kernel/signals.ts';
import { CountingIds, SettableClock } from '../support/settable-clock.ts';
import { mustNotBeUsed } from '../support/strict-fake.ts';
import { AsyncDeadline } from '../../src/adapters/system/system-ports.ts';

type Context = Parameters<LiveStreams['open']>[0];
type Who = Visit['signedIn'];

const now = new Date('2026-03-01T10:00:00Z');
let signal: StoredSignal;
let streams: LiveStreams;
let over: Set<string>;
let plans: Map<string, string>;
let unread: Map<string, number>;
beforeEach(() => {
  jest.useFakeTimers();
  signal = new StoredSignal();
  over = new Set();
  plans = new Map();
  unread = new Map();
  streams = new LiveStreams({
    clock: new SettableClock(now),
    deadline: new AsyncDeadline(),
    ids: new CountingIds(),
    log: pino({ level: 'silent' }),
    chance: () => 0,
    notifications: {
      ...mustNotBeUsed<LivePorts['notifications']>('notifications'),
      countUnread: ({ personId }) => Promise.resolve(unread.get(personId) ?? 0),
    },
    onStored: (listener) => signal.listen(listener),
    whoStillAsks: (ctx) => () => Promise.resolve(signedInBy(ctx as unknown as Asking)),
  });
});
afterEach(() => {
  streams.close();
  jest.useRealTimers();
});

interface Asking {
  readonly accountId: string;
  readonly sessionId: string;
}

const signedInBy = ({ accountId, sessionId }: Asking): Who | undefined =>
  over.has(sessionId)
    ? undefined
    : ({
        account: { id: accountId, plan: plans.get(accountId) ?? 'free' },
        session: { id: sessionId },
        person: { id: `pers_of_${sessionId}` },
      } as Who);

interface Made {
  times: number;
}
type Content = (made: Made, who: Who) => Promise<ReturnType<typeof html>>;
const count: Content = ({ times }) => Promise.resolve(html`made ${times}`);

const pageOf = (content: Content = count) => {
  const made: Made = { times: 0 };
  const show = async ({ signedIn }: Visit) => {
    made.times += 1;
    return { title: 'Animals', content: await content(made, signedIn) };
  };
  const screen = { path: '/dashboard/animals', live: 'often', show } as unknown as Screen;
  return { made, screen };
};

interface Opened {
  readonly stream: () => PassThrough | undefined;
  readonly text: () => string;
  readonly begun: Promise<void>;
  readonly close: () => void;
}

const open = (
  screen: Screen,
  { accountId = 'acct_1', sessionId = `ses_of_${accountId}` }: Partial<Asking> = {},
  { isRead = true, query = '' } = {},
): Opened => {
  const who = { accountId, sessionId };
  const signedIn = signedInBy(who)!;
  const search = new URLSearchParams(query);
  const visit = { signedIn, accountId, parameters: {}, query: search, now, may: () => true };
  const ctx = { ...who, set: () => undefined, res: { closed: false } };
  const body = () => (ctx as { body?: PassThrough }).body;
  let text = '';
  const begun = streams.open(ctx as unknown as Context, { screen, visit }).then(() => {
    if (isRead) body()?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  });
  begun.catch(() => undefined);
  const close = () => {
    ctx.res.closed = true;
    body()?.destroy();
  };
  return { stream: body, text: () => text, begun, close };
};

/** Shorter than the interval at which changes by other processes are polled. */
const aMoment = 1000;
const pass = (milliseconds = aMoment) => jest.advanceTimersByTimeAsync(milliseconds);

test('an event of an account updates its open pages and no others', async () => {
  const [mine, others] = [pageOf(), pageOf()];
  open(mine.screen);
  open(others.screen, { accountId: 'acct_2' });
  await pass(0);
  expect([mine.made.times, others.made.times]).toEqual([1, 1]);
  signal.raise(['acct_3', 'acct_1']);
  await pass();
  expect([mine.made.times, others.made.times]).toEqual([2, 1]);
});

test('changes by other processes are polled every two seconds, once for all viewers', async () => {
  const [mine, others] = [pageOf(), pageOf()];
  open(mine.screen);
  open(others.screen, { accountId: 'acct_2' });
  await pass(2000);
  expect([mine.made.times, others.made.times]).toEqual([2, 2]);
});

test('a page that seldom changes without an event is polled every ten seconds, and shows an event at once', async () => {
  const { made, screen } = pageOf();
  open({ ...screen, live: 'seldom' });
  await pass(2000);
  expect(made.times).toBe(2);
  await pass(9000);
  expect(made.times).toBe(2);
  await pass();
  expect(made.times).toBe(3);
  signal.raise(['acct_1']);
  await pass();
  expect(made.times).toBe(4);
});

test('a change during rendering is shown too, however long rendering takes', async () => {
  let finish = (): void => undefined;
  const { made, screen } = pageOf(async () => {
    await new Promise<void>((resolve) => (finish = resolve));
    return html`page`;
  });
  open(screen);
  await pass(0);
  finish();
  await pass(2000);
  expect(made.times).toBe(2);
  signal.raise(['acct_1']);
  await pass();
  expect(made.times).toBe(2);
  finish();
  await pass(aMoment / 2);
  expect(made.times).toBe(3);
});

test('many changes in a row cause one update', async () => {
  const { made, screen } = pageOf();
  open(screen);
  await pass(0);
  for (let i = 0; i < 20; i++) signal.raise(['acct_1']);
  await pass();
  expect(made.times).toBe(2);
});

test('a page is rendered once for all its viewers', async () => {
  const { made, screen } = pageOf();
  const all = Array.from({ length: 40 }, (_, n) =>
    open(screen, { sessionId: `ses_${Math.floor(n / 10)}` }),
  );
  await pass();
  expect(made.times).toBe(2);
  signal.raise(['acct_1']);
  await pass(aMoment / 2);
  expect(made.times).toBe(3);
  for (const one of all) expect(one.text()).toContain('made 3');
});

test('another page of a list, and another account, are rendered separately', async () => {
  const { made, screen } = pageOf((_, { account }) => Promise.resolve(html`of ${account.id}`));
  const [mine, older, others] = [
    open(screen),
    open(screen, {}, { query: 'before=5' }),
    open(screen, { accountId: 'acct_2' }),
  ];
  await pass();
  expect(made.times).toBe(3);
  expect(mine.text() + older.text()).not.toContain('acct_2');
  expect(others.text()).not.toContain('acct_1');
});

test('each person sees their number of unread notices, and a new number whenever it changes', async () => {
  const { screen } = pageOf(() => Promise.resolve(html`the same`));
  const [mine, hers] = [open(screen), open(screen, { sessionId: 'ses_2' })];
  const toldIn = ({ text }: Opened) =>
    [...text().matchAll(/event: bell\ndata: .*?aria-label=\\"([^"]*)\\"/g)].map(([, told]) => told);
  unread.set('pers_of_ses_2', 3);
  await pass(5000);
  expect([toldIn(mine), toldIn(hers)]).toEqual([['Notices'], ['Notices, 3 unread']]);
  unread.set('pers_of_ses_2', 0);
  await pass(5000);
  expect([toldIn(mine), toldIn(hers)]).toEqual([['Notices'], ['Notices, 3 unread', 'Notices']]);
});

test('if only the bell of a page is live, no page is rendered, and the bell is sent at once and at each change', async () => {
  const { made, screen } = pageOf();
  const one = open({ ...screen, live: 'bell' });
  await pass(2000);
  unread.set('pers_of_ses_of_acct_1', 2);
  signal.raise(['acct_1']);
  await pass(60_000);
  expect(made.times).toBe(0);
  expect(one.text()).not.toContain('event: page');
  expect(one.text().match(/event: bell/g)).toHaveLength(2);
  over.add('ses_of_acct_1');
  await pass(5000);
  expect(one.text()).toContain('event: over');
});

test('a form that may be sent once has a separate id for each viewer', async () => {
  const { screen } = pageOf(() =>
    Promise.resolve(html`${onceInput('form_0')}${onceInput('form_0')}`),
  );
  const all = [open(screen), open(screen, { sessionId: 'ses_2' })];
  await pass();
  const ids = all.flatMap((one) =>
    [...one.text().matchAll(/name=\\"once\\" value=\\"(\w+)\\"/g)].map(([, id]) => id),
  );
  expect(ids).toHaveLength(4);
  expect(new Set(ids).size).toBe(4);
  expect(ids).not.toContain('form_0');
  for (const one of all) {
    const [, data = ''] = /event: page\ndata: (.*)/.exec(one.text()) ?? [];
    expect(JSON.parse(data)).toContain('<main');
  }
});

test('a page that differs only in form ids and relative times is not sent again', async () => {
  const { made, screen } = pageOf(({ times }) =>
    Promise.resolve(
      html`${onceInput(`form_${times}`)}<time datetime="x" data-relative>${times} s</time>`,
    ),
  );
  const one = open(screen);
  await pass(10_000);
  expect(made.times).toBeGreaterThan(3);
  expect(one.text().match(/event: page/g)).toHaveLength(1);
});

test('a viewer that reads late receives only the latest state', async () => {
  const big = 'x'.repeat(100_000);
  const { made, screen } = pageOf(({ times }) => Promise.resolve(html`${big} made ${times}.`));
  const slow = open(screen, {}, { isRead: false });
  await pass(20_000);
  expect(made.times).toBeGreaterThan(8);
  expect(slow.stream()?.readableLength).toBeLessThan(2 * big.length);
  const last = made.times;
  let text = '';
  slow.stream()?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await pass(100);
  expect(text.match(/event: page/g)).toHaveLength(2);
  expect(text).toContain(`made ${last}.`);
});

test('a viewer that reads nothing for a minute is disconnected', async () => {
  const { screen } = pageOf(({ times }) => Promise.resolve(html`${'x'.repeat(100_000)} ${times}`));
  const [stuck, reading] = [
    open(screen, {}, { isRead: false }),
    open(screen, { sessionId: 'ses_2' }),
  ];
  await pass(45_000);
  expect(stuck.stream()?.destroyed).toBe(false);
  await pass(31_000);
  expect([stuck.stream()?.destroyed, reading.stream()?.destroyed]).toEqual([true, false]);
});

test('a page without viewers is no longer rendered', async () => {
  const { made, screen } = pageOf();
  const all = [open(screen), open(screen)];
  await pass(0);
  for (const one of all) one.close();
  await pass(0);
  const before = made.times;
  signal.raise(['acct_1']);
  await pass(10_000);
  expect(made.times).toBe(before);
});

test('a viewer that leaves during the first rendering does not stop it for the others', async () => {
  let finish = (): void => undefined;
  const { made, screen } = pageOf(async ({ times }) => {
    if (times === 1) await new Promise<void>((resolve) => (finish = resolve));
    return html`made ${times}`;
  });
  const [gone, staying] = [open(screen), open(screen)];
  await pass(0);
  gone.close();
  finish();
  await pass();
  expect(gone.stream()).toBeUndefined();
  signal.raise(['acct_1']);
  await pass(aMoment / 2);
  expect(staying.text()).toContain(`made ${made.times}`);
  expect(made.times).toBe(3);
});

test('a missing page is reported as missing, and found once it exists', async () => {
  const { screen } = pageOf(({ times }) =>
    times === 1 ? Promise.reject(new PageProblem(404, 'Not there.')) : count({ times }, {} as Who),
  );
  await expect(open(screen).begun).rejects.toThrow('Not there.');
  const again = open(screen);
  await pass();
  expect(again.text()).toContain('made 2');
});

test("an account's new plan is shown on its open pages", async () => {
  const { screen } = pageOf((_, { account }) => Promise.resolve(html`plan ${account.plan}`));
  const one = open(screen);
  await pass();
  expect(one.text()).toContain('plan free');
  plans.set('acct_1', 'business');
  signal.raise(['acct_1']);
  await pass();
  expect(one.text()).toContain('plan business');
});

test('the streams of a session end with the session', async () => {
  const { screen } = pageOf();
  const [mine, others] = [
    open(screen, { sessionId: 'ses_1' }),
    open(screen, { sessionId: 'ses_2' }),
  ];
  await pass();
  const seen = mine.text();
  over.add('ses_1');
  signal.raise(['acct_1']);
  await pass();
  expect(mine.text()).toBe(`${seen}event: over\ndata: \n\n`);
  expect(mine.stream()?.writableEnded).toBe(true);
  signal.raise(['acct_1']);
  await pass();
  expect(others.text()).toContain('made 4');
});

const isOpen = (one: Opened) => one.stream()?.writableEnded === false;
const later = 'event: later\ndata: 60\n\n';

test('a session has at most ten streams: the oldest is closed, and its page reconnects later', async () => {
  const { screen } = pageOf();
  const all: Opened[] = [];
  for (let n = 0; n <= mostStreams.session; n++) {
    all.push(open(screen));
    await pass(10);
  }
  expect(all.map(isOpen)).toEqual([false, ...Array<boolean>(mostStreams.session).fill(true)]);
  expect(all[0]?.text().endsWith(later)).toBe(true);
});

test('of many streams that open at once, the newest ten stay, and the others are told when to reconnect', async () => {
  const { screen } = pageOf();
  const all = Array.from({ length: 3 * mostStreams.session }, () => open(screen));
  await pass(10);
  const stay = Array<boolean>(mostStreams.session).fill(true);
  expect(all.map(isOpen)).toEqual([...stay.map(() => false), ...stay.map(() => false), ...stay]);
  for (const one of all.filter((each) => !isOpen(each)))
    expect(one.text().endsWith(later)).toBe(true);
});

test('an account has at most fifty open streams, over all sessions', async () => {
  const { screen } = pageOf();
  const all: Opened[] = [];
  for (let n = 0; n < 60; n++) {
    all.push(open(screen, { sessionId: `ses_${n}` }));
    await pass(1);
  }
  expect(all.filter(isOpen)).toHaveLength(mostStreams.account);
  expect(all.slice(0, 10).some(isOpen)).toBe(false);
});

test('when a process is full, the account with the most streams loses one', async () => {
  const { screen } = pageOf();
  const accounts = Array.from({ length: 20 }, (_, n) => `acct_${n}`);
  const all: (Opened & { readonly of: string })[] = [];
  const come = async (of: string, n: number) => {
    all.push({ ...open(screen, { accountId: of, sessionId: `${of}_${n}` }), of });
    await pass(1);
  };
  for (const of of accounts)
    for (let n = 0; n < (of === 'acct_7' ? 50 : 49); n++) await come(of, n);
  for (let n = 0; n < 19; n++) await come(`single_${n}`, 0);
  expect(all.filter(isOpen)).toHaveLength(mostStreams.process);
  await come('small', 0);
  expect(all.filter(isOpen)).toHaveLength(mostStreams.process);
  expect(all.filter((one) => !isOpen(one)).map(({ of }) => of)).toEqual(['acct_7']);
});

test('a rendering that failed is tried again at the next check, even if no data has changed', async () => {
  let fails = false;
  const { made, screen } = pageOf(({ times }) =>
    fails ? Promise.reject(new Error('away')) : Promise.resolve(html`made ${times}`),
  );
  const one = open(screen);
  await pass(3000);
  fails = true;
  signal.raise(['acct_1']);
  await pass(aMoment / 2);
  fails = false;
  await pass(2000);
  expect(one.text()).toContain(`made ${made.times}`);
});

test('the end of a session ends its streams even if no data has changed', async () => {
  const { screen } = pageOf();
  const one = open(screen);
  await pass(3000);
  over.add('ses_of_acct_1');
  await pass(2000 + aMoment / 2);
  expect(one.text().endsWith('event: over\ndata: \n\n')).toBe(true);
});
