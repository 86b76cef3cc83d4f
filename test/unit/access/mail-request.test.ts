import { expect, test } from '@jest/globals';
import {
  countedTogether,
  mailReasons,
  mailsCountedSince,
  mayBeMailed,
  type PastMail,
} from '../../../src/access/domain/mail-request.ts';
import { mailedLinkMs } from '../../../src/access/domain/session.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const now = new Date('2026-03-01T10:00:00Z');
const minute = 60_000;
const hour = 60 * minute;
const ago = (ms: number): Date => new Date(now.getTime() - ms);

const [here, there] = ['network:203.0.113.7', 'network:198.51.100.1'];
const from = (source: string, device?: PastMail['device']) => ({ source, device });
const mailsAt = (times: readonly Date[], source = here): readonly PastMail[] =>
  times.map((at) => ({ at, ...from(source) }));
const may = (before: readonly PastMail[], asked = from(here), at = now): boolean =>
  mayBeMailed(asked, { before, personIds: ['pers_mia'] }, at);

test.each([
  [[], true],
  [[0, 1], true],
  [[0, 1, 2], false],
  [[0, 1, hour - 1], false],
  [[0, 1, hour], true],
  [[2, 4, 6, 8, 10, 12, 14, 16, 18].map((at) => at * hour), true],
  [[2, 4, 6, 8, 10, 12, 14, 16, 18, 20].map((at) => at * hour), false],
  [[2, 4, 6, 8, 10, 12, 14, 16, 18, 24].map((at) => at * hour), true],
])('another mail may follow mails sent %j milliseconds ago: %j', (before, isAllowed) => {
  expect(may(mailsAt(before.map(ago)))).toBe(isAllowed);
  expect(may(mailsAt(before.toReversed().map(ago)))).toBe(isAllowed);
  expect(may(mailsAt(before.map(ago)), from(there))).toBe(true);
});

test('mails from a clock that was ahead still count', () => {
  expect(may(mailsAt([ago(-hour), ago(-hour), ago(-2 * hour)]))).toBe(false);
});

test('an address gets at most three mails an hour and ten a day from one network, however often they are requested', () => {
  const chance = seededRandom(16);
  const sent: Date[] = [];
  for (let at = now.getTime(); at < now.getTime() + 3 * 24 * hour; at += chance() * 5 * minute) {
    const counted = sent.filter((one) => one > mailsCountedSince(new Date(at)));
    if (may(mailsAt(counted), from(here), new Date(at))) sent.push(new Date(at));
  }
  const most = (windowMs: number) =>
    Math.max(
      ...sent.map((from) => sent.filter((one) => +one >= +from && +one < +from + windowMs).length),
    );
  expect([most(hour), most(24 * hour)]).toEqual([3, 10]);
});

test('both kinds of link share a count; invitations and notices of a changed password each have their own', () => {
  expect(mailReasons.map((reason) => countedTogether(reason))).toEqual([
    ['sign_in', 'new_password'],
    ['sign_in', 'new_password'],
    ['invitation'],
    ['password_changed'],
    ['factor_changed'],
  ]);
});

test('an address gets at most ten mails an hour and thirty a day from many networks', () => {
  const spread = (count: number, everyMs: number) =>
    Array.from({ length: count }, (_, n) => mailsAt([ago(n * everyMs)], `network:${n}`)).flat();
  expect(may(spread(9, minute))).toBe(true);
  expect(may(spread(10, minute))).toBe(false);
  expect(may(spread(29, 20 * minute))).toBe(true);
  expect(may(spread(30, 20 * minute))).toBe(false);
});

test('an address gets one requested link each half hour, however many networks ask, and each works until the next one', () => {
  const sent: Date[] = [];
  const end = now.getTime() + 3 * 24 * hour;
  for (let [at, asked] = [now.getTime(), 0]; at < end; at += minute, asked += 1) {
    const before = sent.slice(-100).flatMap((one, n) => mailsAt([one], `network:past ${n}`));
    if (may(before, from(`network:${asked}`), new Date(at))) sent.push(new Date(at));
  }
  const waits = sent.map((one, n) => (sent[n + 1]?.getTime() ?? end) - one.getTime());
  const within = (days: number) => sent.filter((one) => +one < now.getTime() + days * 24 * hour);
  expect(within(1).length).toBeLessThan(75);
  expect(within(2).length - within(1).length).toBe(48);
  expect(Math.max(...waits)).toBeLessThanOrEqual(mailedLinkMs + 20 * minute);
  expect(Math.max(...waits.slice(30))).toBe(mailedLinkMs);
  const own = mailsAt([
    ago(hour),
    ago(hour + 1),
    ago(hour + 2),
    ...Array<Date>(7).fill(ago(9 * hour)),
  ]);
  expect(may(own)).toBe(false);
});

test('a browser in which the person has signed in has its own limit, and all other browsers count as strangers', () => {
  const known = { id: 'device_1', personIds: ['pers_other', 'pers_mia'] };
  const foreign = { id: 'device_2', personIds: ['pers_mallory'] };
  const flood = Array.from({ length: 30 }, (_, n) => mailsAt([ago(n)], `network:${n}`)).flat();
  const own = Array.from({ length: 3 }, (_, n) => ({ at: ago(n), ...from(here, known) }));
  expect(may(flood, from(here, known))).toBe(true);
  expect(may(flood, from(here, foreign))).toBe(false);
  expect(may([...flood, ...own.slice(1)], from(there, known))).toBe(true);
  expect(may([...flood, ...own], from(there, known))).toBe(false);
  expect(may(own)).toBe(true);
});

test('known browsers together get ten mails an hour and thirty a day', () => {
  const by = (n: number) => ({ id: `device_${n}`, personIds: ['pers_mia'] });
  const spread = (count: number, everyMs: number) =>
    Array.from({ length: count }, (_, n) => ({ at: ago(n * everyMs), ...from(here, by(n)) }));
  expect(may(spread(9, minute), from(here, by(99)))).toBe(true);
  expect(may(spread(10, minute), from(here, by(99)))).toBe(false);
  expect(may(spread(29, 20 * minute), from(here, by(99)))).toBe(true);
  expect(may(spread(30, 20 * minute), from(here, by(99)))).toBe(false);
  expect(may(spread(30, minute))).toBe(true);
});
