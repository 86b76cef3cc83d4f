import { subjectOf } from '../../../src/notifications/domain/kinds.ts';
import {
  type DueMail,
  endOf,
  inTurns,
  type Mail,
  mostMessages,
  nextAttempt,
  planMail,
  type PlannedMail,
  plannedSince,
} from '../../../src/notifications/domain/mail.ts';
import type { NotificationContent } from '../../../src/notifications/domain/notification.ts';
import { later } from '../../support/accounts.ts';
import { everyKind } from '../../support/notifications.ts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const windowMs = 10 * minute;

const bannedOf = (key: number) => ({
  kind: 'key.banned' as const,
  about: { keyId: `key_${key}`, name: 'Till', until: '2026-03-01' },
});
const personal = everyKind().find(({ kind }) => kind === 'sign_in.link')!;
let next = 0;
const mailOf = (told: NotificationContent, at: Date): Mail => ({
  id: `evt_${(next += 1)}`,
  accountId: 'acct_1',
  personId: 'pers_1',
  to: 'keeper@zoo.example',
  occurredAt: at,
  ...told,
});

/** The mails of a person, with messages sent as soon as they are due. */
class Inbox {
  readonly planned: PlannedMail[] = [];

  add(mail: Mail, now: Date): PlannedMail | undefined {
    const known = this.planned
      .filter(({ sendAt }) => sendAt > plannedSince(now))
      .map((one) => ({ ...one, isOpen: one.sendAt > now }));
    const plan = planMail(mail, known, now);
    if (plan && 'cancels' in plan) {
      const at = this.planned.findIndex(({ message }) => message === plan.cancels);
      this.planned.splice(at, 1);
      return undefined;
    }
    if (!plan) return undefined;
    const planned = { ...plan, kind: mail.kind, subject: subjectOf(mail), isOpen: true };
    this.planned.push(planned);
    return planned;
  }

  /** The times at which messages of limited kinds are sent, in order. */
  get times(): readonly number[] {
    const limited = this.planned.filter(({ subject }) => subject !== undefined);
    const times = new Map(limited.map(({ message, sendAt }) => [message, sendAt.getTime()]));
    return [...times.values()].toSorted((one, other) => one - other);
  }
}

test('the loss of a name is mailed once, even on the day of a mail about a rival', () => {
  const inbox = new Inbox();
  const about = { project: 'birds', host: 'a.test', name: 'a.test', proof: 'the TXT record' };
  const sent = [false, false, true, true].map((isTaken, n) => {
    const at = later(n * hour);
    return inbox.add(mailOf({ kind: 'domain.contested', about: { ...about, isTaken } }, at), at);
  });
  expect(sent.map((one) => one !== undefined)).toEqual([true, false, true, false]);
});

describe('within ten minutes', () => {
  test('five mails are sent at once, and the others as one summary at the end of the ten minutes', () => {
    const inbox = new Inbox();
    const all = Array.from({ length: 12 }, (_, at) =>
      inbox.add(mailOf(bannedOf(at), later(at * 1000)), later(at * 1000)),
    );
    const [alone, gathered] = [all.slice(0, 5), all.slice(5)];
    expect(alone.map((one) => one?.sendAt)).toEqual([0, 1, 2, 3, 4].map((at) => later(at * 1000)));
    expect(new Set(gathered.map((one) => one?.message)).size).toBe(1);
    expect(new Set(gathered.map((one) => one?.sendAt.getTime()))).toEqual(
      new Set([later(windowMs).getTime()]),
    );
  });

  test('the proof of a name by another account is mailed at once, whatever else was mailed or waits', () => {
    const inbox = new Inbox();
    for (let at = 0; at < 12; at += 1) inbox.add(mailOf(bannedOf(at), later(at)), later(at));
    const contested = everyKind().find(({ kind }) => kind === 'domain.contested')!;
    const mail = mailOf(contested, later(minute));
    expect(inbox.add(mail, later(minute))).toMatchObject({
      message: mail.id,
      sendAt: later(minute),
    });
    const waiting = inbox.add(mailOf(bannedOf(12), later(2 * minute)), later(2 * minute));
    expect(waiting?.sendAt).toEqual(later(windowMs));
  });

  test('no mail joins a summary that is being sent', () => {
    const now = later(0);
    const before = Array.from({ length: 6 }, (_, at) => ({
      kind: 'key.banned',
      subject: `key_${at}`,
      message: `evt_${at}`,
      isOpen: false,
      sendAt: at < 5 ? now : later(windowMs),
    }));
    const plan = planMail(mailOf(bannedOf(9), now), before, now);
    const joined = plan && 'message' in plan ? plan.message : undefined;
    expect(joined).toBeDefined();
    expect(before.map(({ message }) => message)).not.toContain(joined);
  });
});

describe('a domain that fails again within a day', () => {
  const about = { project: 'birds', host: 'birds.test', name: 'birds.test' };
  const [unhealthy, recovered] = (['domain.unhealthy', 'domain.recovered'] as const).map(
    (wanted) => ({ ...everyKind(about).find(({ kind }) => kind === wanted)! }),
  ) as [NotificationContent, NotificationContent];
  const told = (inbox: Inbox, what: NotificationContent, at: number) =>
    inbox.add(mailOf(what, later(at)), later(at));
  const sentIn = ({ planned }: Inbox) =>
    planned.map(({ kind, sendAt }) => [kind, Number(sendAt) - Number(later(0))]);

  test('is mailed when the day is over, because the last mail says that all is well', () => {
    const inbox = new Inbox();
    told(inbox, unhealthy, 0);
    told(inbox, recovered, hour);
    told(inbox, unhealthy, 2 * hour);
    told(inbox, unhealthy, 3 * hour);
    expect(sentIn(inbox)).toEqual([
      ['domain.unhealthy', 0],
      ['domain.recovered', hour],
      ['domain.unhealthy', day],
    ]);
    told(inbox, recovered, day + 2 * hour);
    expect(sentIn(inbox).at(-1)).toEqual(['domain.recovered', day + 2 * hour]);
  });

  test('is not mailed if it has recovered by then, however often that happens', () => {
    const inbox = new Inbox();
    for (let hours = 0; hours < 22; hours += 1) {
      told(inbox, hours % 2 ? recovered : unhealthy, hours * hour);
    }
    expect(sentIn(inbox)).toEqual([
      ['domain.unhealthy', 0],
      ['domain.recovered', hour],
    ]);
  });

  test('waits without delaying or joining other mails', () => {
    const inbox = new Inbox();
    told(inbox, unhealthy, 0);
    told(inbox, recovered, hour);
    const waiting = told(inbox, unhealthy, 2 * hour);
    const other = told(inbox, bannedOf(1), 2 * hour);
    expect(other?.sendAt).toEqual(later(2 * hour));
    expect(other?.message).not.toBe(waiting?.message);
  });

  test('leaves a person with outdated news for at most a day, and is mailed at most once a day for one kind', () => {
    const pauses = fc.array(fc.integer({ min: minute, max: 30 * hour }), { maxLength: 40 });
    fc.assert(
      fc.property(pauses, (all) => {
        const inbox = new Inbox();
        let at = 0;
        let isWell = true;
        for (const pause of all) {
          at += pause;
          isWell = !isWell;
          told(inbox, isWell ? recovered : unhealthy, at);
        }
        const sent = sentIn(inbox).toSorted((one, other) => Number(one[1]) - Number(other[1]));
        const last = sent.at(-1)?.[0] ?? 'domain.recovered';
        expect(last).toBe(isWell ? 'domain.recovered' : 'domain.unhealthy');
        for (const kind of ['domain.unhealthy', 'domain.recovered']) {
          const times = sent.filter(([its]) => its === kind).map(([, time]) => Number(time));
          for (const [n, time] of times.slice(1).entries()) {
            expect(time - times[n]!).toBeGreaterThanOrEqual(day);
          }
        }
      }),
    );
  });
});

/** Mails about a few subjects, each this many milliseconds after the previous one. */
const history = fc.array(
  fc.record({
    key: fc.integer({ min: 0, max: 30 }),
    pauseMs: fc.oneof(
      fc.integer({ min: 0, max: 2 * minute }),
      fc.integer({ min: 0, max: day }),
      fc.constantFrom(0, windowMs, windowMs - 1, day, day - 1),
    ),
    isPersonal: fc.boolean(),
  }),
  { maxLength: 60 },
);

describe('in any sequence of events', () => {
  test('a person gets at most five messages within ten minutes', () => {
    fc.assert(
      fc.property(history, (mails) => {
        const { times } = lived(mails);
        for (const [at, time] of times.entries()) {
          const sixth = times[at + mostMessages];
          if (sixth !== undefined) expect(sixth - time).toBeGreaterThanOrEqual(windowMs);
        }
      }),
    );
  });

  test('a kind and a subject are mailed at most once a day, and a mail is skipped only for that reason', () => {
    fc.assert(
      fc.property(history, (mails) => {
        const { planned, leftOut } = lived(mails);
        const timesOf = (subject: string) =>
          planned.filter((one) => one.subject === subject).map(({ sendAt }) => sendAt.getTime());
        for (let key = 0; key <= 30; key += 1) {
          const times = timesOf(`key_${key}`);
          for (const [at, time] of times.entries()) {
            if (at > 0) expect(time - (times[at - 1] ?? 0)).toBeGreaterThanOrEqual(day);
          }
        }
        for (const { subject, at } of leftOut) {
          expect(timesOf(subject).some((time) => Math.abs(time - at) <= day)).toBe(true);
        }
      }),
    );
  });

  test('no mail waits longer than ten minutes, and personal ones are sent at once', () => {
    fc.assert(
      fc.property(history, (mails) => {
        for (const { planned, at, isPersonal } of lived(mails).sent) {
          const waitMs = planned.sendAt.getTime() - at;
          expect(waitMs).toBeGreaterThanOrEqual(0);
          expect(waitMs).toBeLessThanOrEqual(isPersonal ? 0 : windowMs);
        }
      }),
    );
  });
});

const lived = (
  mails: readonly {
    readonly key: number;
    readonly pauseMs: number;
    readonly isPersonal: boolean;
  }[],
) => {
  const inbox = new Inbox();
  const leftOut: { readonly subject: string; readonly at: number }[] = [];
  const sent: { readonly planned: PlannedMail; readonly at: number; isPersonal: boolean }[] = [];
  let now = later(0);
  for (const { key, pauseMs, isPersonal } of mails) {
    now = new Date(now.getTime() + pauseMs);
    const at = now.getTime();
    const planned = inbox.add(mailOf(isPersonal ? personal : bannedOf(key), now), now);
    if (planned) sent.push({ planned, at, isPersonal });
    else leftOut.push({ subject: `key_${key}`, at });
    if (isPersonal) expect(planned).toBeDefined();
  }
  return { times: inbox.times, planned: inbox.planned, leftOut, sent };
};

test('a message is retried after growing waits, the last time after a day', () => {
  const mail = mailOf(bannedOf(1), later(0));
  const until = endOf(mail, later(0));
  const tried: Date[] = [later(0)];
  for (;;) {
    const next = nextAttempt({ attempts: tried.length - 1, until }, tried.at(-1)!);
    if (!next) break;
    tried.push(next);
  }
  const waits = tried.slice(1).map((at, n) => Number(at) - Number(tried[n]));
  expect(waits.slice(0, 4)).toEqual([minute, 2 * minute, 4 * minute, 8 * minute]);
  expect(waits.slice(0, -1)).toEqual(waits.slice(0, -1).toSorted((one, other) => one - other));
  expect(Math.max(...waits)).toBe(2 * hour);
  expect(tried.at(-1)).toEqual(later(day));
  expect(Number(until)).toBeGreaterThan(day);
});

test('a mail with a link is retried until a minute before the link ends', () => {
  const about = { ...personal.about, until: later(30 * minute).toISOString() };
  const mail = mailOf({ ...personal, about } as NotificationContent, later(0));
  const until = endOf(mail, later(0));
  expect(until).toEqual(later(30 * minute));
  expect(nextAttempt({ attempts: 5, until }, later(15 * minute))).toEqual(later(29 * minute));
  expect(nextAttempt({ attempts: 6, until }, later(29 * minute))).toBeUndefined();
});

const mail = (message: string, draft: Partial<DueMail> = {}): DueMail => ({
  message,
  accountId: 'acct_1',
  isPersonal: false,
  ...draft,
});
const ofOther = { accountId: 'acct_2' };

test('messages are sent once each, in the order in which they are due', () => {
  expect(inTurns([mail('a'), mail('a'), mail('b'), mail('c')], [], 2)).toEqual(['a', 'b']);
  expect(inTurns([], [], 2)).toEqual([]);
});

test('personal mails go first', () => {
  const due = [mail('a'), mail('b'), mail('link', { isPersonal: true })];
  expect(inTurns(due, ['acct_1'], 2)).toEqual(['link', 'a']);
});

test('an account with many mails lets the others take turns', () => {
  const due = [mail('a'), mail('b'), mail('c'), mail('x', ofOther), mail('y', ofOther)];
  expect(inTurns(due, [], 5)).toEqual(['a', 'x', 'b', 'y', 'c']);
});

test('the account whose last turn was longest ago goes first, even if one message is claimed at a time', () => {
  const due = [mail('a'), mail('b'), mail('x', ofOther), mail('p', { accountId: 'acct_3' })];
  expect(inTurns(due, ['acct_1', 'acct_2'], 1)).toEqual(['p']);
  expect(inTurns(due, ['acct_3', 'acct_2', 'acct_1'], 1)).toEqual(['p']);
  expect(inTurns(due, ['acct_2', 'acct_1', 'acct_3'], 2)).toEqual(['x', 'a']);
});
