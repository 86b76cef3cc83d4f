import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import { TooMany } from '../../../src/access/domain/access-error.ts';
import {
  askedCallLimits,
  dashboardLimits,
  type DashboardUse,
} from '../../../src/access/domain/session.ts';
import type { SignedIn } from '../../../src/access/people-ports.ts';
import { QuotaCounters } from '../../../src/access/ports.ts';
import type { SettableClock } from '../../support/settable-clock.ts';
import { Unavailable } from '../../../src/kernel/ports.ts';
import { accessLabs } from '../../support/access/access-lab.ts';
import { race } from '../../support/race.ts';

const accessLab = accessLabs();
const now = new Date('2026-03-01T10:00:30Z');
const from = { network: '192.0.2.1', browser: 'Firefox' };
const email = 'owner@zoo.example';
const uses = Object.keys(dashboardLimits) as readonly DashboardUse[];

let face: Access;
let clock: SettableClock;
beforeEach(async () => {
  ({ face, clock } = await accessLab(now));
  await face.createAccount({ name: 'Zoo', email, plan: 'pro' });
});

const signIn = async (at = face): Promise<SignedIn> => {
  const { secret } = await at.signInLinkFor(email);
  return (await at.findSession((await at.signInByLink(secret, from)).secret))!;
};

test.each(uses)(
  'one person may use a limited number of %s a minute, over all sessions',
  async (use) => {
    const sessions = [await signIn(), await signIn()];
    const most = dashboardLimits[use];
    const { won, lost } = await race(most + 7, (n) => face.admitUse(sessions[n % 2]!, use));
    expect([won.length, lost]).toEqual([most, Array(7).fill('too_many_requests')]);
    clock.advance(30_000);
    await face.admitUse(sessions[0]!, use);
  },
);

test('pages, forms and live pages have separate counts, and a refusal says when to try again', async () => {
  const mia = await signIn();
  await race(dashboardLimits.forms, () => face.admitUse(mia, 'forms'));
  const refusal = await face.admitUse(mia, 'forms').catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(TooMany);
  expect(refusal).toMatchObject({ retryAfter: 30 });
  expect(String(refusal)).toContain('Try again in 30 seconds.');
  for (const use of ['pages', 'streams'] as const) await face.admitUse(mia, use);
});

test('signed-in people can open pages while the counters are unavailable', async () => {
  const mia = await signIn();
  class Away extends QuotaCounters {
    override take = () => Promise.reject(new Unavailable('Redis', undefined));
    override peek = this.take;
  }
  await (await accessLab(now, { counters: new Away() })).face.admitUse(mia, 'pages');
});

describe('test calls to webhooks', () => {
  const { ofAccount, toHost } = askedCallLimits;
  const ask = (account: string, host: string) => face.admitAskedCall(account, host);

  test('are limited each minute for one account, whatever hosts it calls', async () => {
    const { won, lost } = await race(ofAccount.perMinute + 3, (n) => ask('acct_1', `${n}.test`));
    expect([won.length, lost]).toEqual([ofAccount.perMinute, Array(3).fill('too_many_requests')]);
    await ask('acct_2', '1.test');
    clock.advance(30_000);
    await ask('acct_1', '1.test');
  });

  test('are limited each minute for one host, however many accounts call it', async () => {
    const { won, lost } = await race(toHost.perMinute + 3, (n) =>
      ask(`acct_${n}`, 'stranger.test'),
    );
    expect([won.length, lost]).toEqual([toHost.perMinute, Array(3).fill('too_many_requests')]);
    await expect(ask('acct_x', 'stranger.test')).rejects.toThrow('Try again in 30 seconds.');
    await ask('acct_x', 'other.test');
  });
});
