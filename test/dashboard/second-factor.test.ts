import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stepOf } from '../../src/access/domain/second-factor.ts';
import { timeCode } from '../../src/adapters/system/system-ports.ts';
import { AuditLog } from '../../src/access/ports.ts';
import { AccessKey, SitesKey } from '../../src/app/keys.ts';
import { elementsIn, textOf } from '../support/dashboard/markup.ts';
import {
  type Owner,
  type RunningDashboard,
  startDashboard,
} from '../support/dashboard/running-dashboard.ts';
import type { DashboardVisitor } from '../support/dashboard/visitor.ts';

const password = 'four words do well here';
const factorPath = '/dashboard/second-factor';
const appPath = '/dashboard/me/second-factor/app';
const minute = 60_000;
const stale = 10 * minute;

let dashboard: RunningDashboard;
beforeAll(async () => {
  dashboard = await startDashboard({ now: new Date('2026-03-01T10:00:00Z') });
});
afterAll(() => dashboard.close());

const fieldsOf = (markup: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    elementsIn(markup, 'input').map(({ attributes: { name = '', value = '' } }) => [name, value]),
  );
const codesIn = (markup: string): readonly string[] =>
  markup.match(/\b[a-z2-7]{4}-[a-z2-7]{4}-[a-z2-7]{4}\b/g) ?? [];

const nextCode = (secret: string): string => {
  dashboard.clock.advance(minute);
  return timeCode(secret, stepOf(dashboard.clock.now()));
};

interface Protected extends Owner {
  readonly secret: string;
  readonly recovery: readonly string[];
}

const setUp = async (visitor: DashboardVisitor): Promise<Omit<Protected, keyof Owner>> => {
  const { text } = await visitor.get(appPath);
  const [secret = ''] = /(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}/.exec(text) ?? [];
  const plain = secret.replaceAll(' ', '');
  const { token = '' } = fieldsOf(text);
  const { status, text: done } = await visitor.post(appPath, { token, code: nextCode(plain) });
  expect(status).toBe(201);
  return { secret: plain, recovery: codesIn(done) };
};

const newProtected = async (): Promise<Protected> => {
  const owner = await dashboard.newOwner();
  const { visitor } = owner;
  expect((await visitor.post('/dashboard/me/password', { wanted: password })).status).toBe(303);
  return { ...owner, ...(await setUp(visitor)) };
};

const signIn = async ({ email }: Owner): Promise<DashboardVisitor> => {
  dashboard.clock.advance(minute);
  const visitor = dashboard.stranger();
  const { location } = await visitor.post('/dashboard/sign-in', { email, password });
  expect(location).toBe(factorPath);
  return visitor;
};
const isIn = async (visitor: DashboardVisitor): Promise<boolean> =>
  (await visitor.get('/dashboard')).status === 200;
const show = (visitor: DashboardVisitor, code: string) => visitor.post(factorPath, { code });

describe('a sign-in with a second factor', () => {
  let owner: Protected;
  beforeAll(async () => {
    owner = await newProtected();
  });

  test('succeeds only after the code, and shows ten recovery codes once', async () => {
    expect(new Set(owner.recovery).size).toBe(10);
    const visitor = await signIn(owner);
    expect(await isIn(visitor)).toBe(false);
    const sent = await visitor.post('/dashboard', { name: 'Shop', once: 'form_waiting' });
    expect(fieldsOf(sent.text)['kept']).toContain('Shop');
    expect(await dashboard.container.get(SitesKey).listProjects(owner.accountId)).toEqual([]);
    expect((await show(visitor, nextCode(owner.secret))).location).toBe('/dashboard');
    expect(await isIn(visitor)).toBe(true);
    const { text } = await visitor.get('/dashboard/me/second-factor');
    expect(codesIn(text)).toEqual([]);
    expect(textOf(text)).toContain('10 of 10 are left');
  });

  test('refuses a used code, an older one and a wrong one', async () => {
    const code = nextCode(owner.secret);
    expect((await show(await signIn(owner), code)).status).toBe(422);
    const [first, second] = [await signIn(owner), await signIn(owner)];
    const now = nextCode(owner.secret);
    expect((await show(first, now)).status).toBe(303);
    for (const replayed of [now, '000000', '']) {
      expect((await show(second, replayed)).status).toBe(422);
    }
    expect(await isIn(second)).toBe(false);
  });

  test('accepts each recovery code once, however it is typed', async () => {
    const [code = ''] = owner.recovery;
    expect((await show(await signIn(owner), ` ${code.toUpperCase()} `)).status).toBe(303);
    expect((await show(await signIn(owner), code)).status).toBe(422);
  });

  test('that used a recovery code is in the audit log under the name of the person', async () => {
    const { accountId, email } = owner;
    const [used] = await dashboard.container
      .get(AuditLog)
      .list(accountId, 1, { kinds: ['recovery_code_used'] });
    expect(used?.actor).toBe(`person:${email}`);
  });

  test('gets new recovery codes once from a form that is sent twice, such as by a reload', async () => {
    const visitor = await signIn(owner);
    await show(visitor, nextCode(owner.secret));
    const page = '/dashboard/me/second-factor';
    const { once = '' } = fieldsOf((await visitor.get(page)).text);
    const made = await visitor.post(`${page}/recovery`, { once });
    expect([made.status, codesIn(made.text).length]).toEqual([201, 20]);
    const again = await visitor.post(`${page}/recovery`, { once });
    expect(textOf((await visitor.get(again.location!)).text)).toContain('made already');
    const [code = ''] = codesIn(made.text);
    expect((await show(await signIn(owner), code)).status).toBe(303);
  });

  test('allows only a limited number of attempts', async () => {
    const visitor = await signIn(owner);
    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push((await show(visitor, '123456')).status);
    expect(statuses).toEqual([422, 422, 422, 422, 422, 429]);
    dashboard.clock.advance(minute);
  });

  test('by a link also asks for the code, and then continues to the requested page', async () => {
    const visitor = dashboard.stranger();
    const { location = '' } = await visitor.get(await dashboard.linkFor(owner.email));
    expect(location).toMatch(/^\/dashboard\/second-factor\?next=/);
    const next = `${factorPath}?next=/dashboard/usage`;
    const { location: to } = await visitor.post(next, { code: nextCode(owner.secret) });
    expect(to).toBe('/dashboard/usage');
  });

  test('that still waits for the code goes on from any page and form, since a link cannot be used again', async () => {
    const visitor = dashboard.stranger();
    const link = await dashboard.linkFor(owner.email);
    await visitor.get(link);
    expect((await visitor.get(link)).location).toBe(factorPath);
    const sent = await visitor.post('/dashboard', { name: 'Shop' });
    const again = await visitor.post('/dashboard/sign-in', {
      kept: fieldsOf(sent.text)['kept'] ?? '',
    });
    for (const { text } of [sent, again]) expect(textOf(text)).toContain('You sign in to');
    expect(fieldsOf(again.text)['kept']).toContain('Shop');
    const { location = '' } = await visitor.get('/dashboard/usage');
    expect(await visitor.get(location)).toMatchObject({
      status: 303,
      location: `${factorPath}?next=/dashboard/usage`,
    });
    expect((await visitor.post('/dashboard/sign-out')).location).toBe('/dashboard/sign-in');
    expect((await visitor.get('/dashboard/sign-in')).status).toBe(200);
  });

  test('expires when it waits for more than ten minutes', async () => {
    const visitor = await signIn(owner);
    dashboard.clock.advance(10 * minute);
    expect((await show(visitor, nextCode(owner.secret))).location).toBe('/dashboard/sign-in');
  });

  test('still needs the code after a password reset, until the operator resets the factor', async () => {
    const visitor = dashboard.stranger();
    await visitor.get(await dashboard.linkFor(owner.email));
    await show(visitor, nextCode(owner.secret));
    expect(
      (await visitor.post('/dashboard/account/new-password', { wanted: password })).status,
    ).toBe(303);
    await signIn(owner);
    await dashboard.container.get(AccessKey).resetFactors(owner.email);
    dashboard.clock.advance(minute);
    const free = dashboard.stranger();
    await free.post('/dashboard/sign-in', { email: owner.email, password });
    expect(await isIn(free)).toBe(true);
  });
});

describe('an action that needs the factor again', () => {
  const invite = { email: 'ben@zoo.example', role: 'viewer', once: 'form_again_1' };
  const people = '/dashboard/account/people';
  const invited = async ({ accountId }: Owner) =>
    (await dashboard.container.get(AccessKey).listPeople(accountId)).some(
      ({ email }) => email === invite.email,
    );

  test('runs at once within ten minutes, and later only after the code', async () => {
    const owner = await newProtected();
    const { visitor } = owner;
    expect((await visitor.post('/dashboard/keys', keyOf('fresh'))).status).toBe(201);
    dashboard.clock.advance(stale);
    const asked = await visitor.post(people, invite);
    expect(textOf(asked.text)).toContain('Confirm that it is you');
    expect(await invited(owner)).toBe(false);
    const { kept = '' } = fieldsOf(asked.text);
    for (const wrong of [{ code: '123456' }, { password }]) {
      const refused = await visitor.post('/dashboard/confirm', { ...wrong, kept });
      expect([refused.status, fieldsOf(refused.text)['kept']]).toEqual([422, kept]);
    }
    const code = nextCode(owner.secret);
    const done = await visitor.post('/dashboard/confirm', { code, kept });
    expect([done.status, await invited(owner)]).toEqual([201, true]);
    expect((await visitor.post('/dashboard/keys', keyOf('fresh again'))).status).toBe(201);
  });

  test('does not run in another account that was opened meanwhile', async () => {
    const [owner, other] = [await newProtected(), await newProtected()];
    dashboard.clock.advance(stale);
    const asked = await owner.visitor.post(people, invite);
    const { kept = '' } = fieldsOf(asked.text);
    const code = nextCode(other.secret);
    const confirmed = await other.visitor.post('/dashboard/confirm', { code, kept });
    expect([confirmed.status, await invited(owner), await invited(other)]).toEqual([
      303,
      false,
      false,
    ]);
  });

  test('asks a person without a factor for the password', async () => {
    const owner = await dashboard.newOwner();
    const { visitor } = owner;
    await visitor.post('/dashboard/me/password', { wanted: password });
    dashboard.clock.advance(stale);
    const { text } = await visitor.post(people, invite);
    expect(textOf(text)).toContain('Then we do what you sent.');
    const { kept = '' } = fieldsOf(text);
    const wrong = await visitor.post('/dashboard/confirm', { password: 'another one', kept });
    expect([wrong.status, await invited(owner)]).toEqual([422, false]);
    expect((await visitor.post('/dashboard/confirm', { password, kept })).status).toBe(201);
    expect(await invited(owner)).toBe(true);
  });

  test('does not run after an old session has set a first password', async () => {
    const { visitor } = await dashboard.newOwner();
    dashboard.clock.advance(stale);
    const asked = await visitor.post('/dashboard/me/password', { wanted: password });
    expect(textOf(asked.text)).toContain('Confirm that it is you');
    const { kept = '' } = fieldsOf(asked.text);
    expect((await visitor.post('/dashboard/confirm', { password, kept })).status).toBe(422);
  });

  test('does not run after a sign-in by a link that the session created itself', async () => {
    const { visitor } = await dashboard.newOwner();
    const { text } = await visitor.post('/dashboard/me/link', { once: 'form_own_link' });
    const [link = ''] = /\/dashboard\/sign-in\/[0-9A-Za-z]{43}/.exec(text) ?? [];
    const thief = dashboard.stranger();
    expect((await thief.get(link)).status).toBe(303);
    const asked = await thief.post('/dashboard/keys', keyOf('stolen'));
    expect(textOf(asked.text)).toContain('Confirm that it is you');
    expect(textOf(asked.text)).not.toContain('Then we do what you sent.');
  });

  const keyOf = (name: string) => ({
    name,
    scopes: 'pets:read',
    expires: '',
    once: `form_${name.replace(' ', '_')}`,
  });
});

describe('an account that requires a second factor', () => {
  test('sends people without one to the setup at their next sign-in, where they can only choose a password before', async () => {
    const { accountId, email, visitor } = await dashboard.newOwner();
    const { status } = await visitor.post('/dashboard/account/second-factor', { demand: 'yes' });
    expect([status, await isIn(visitor)]).toEqual([303, true]);
    dashboard.clock.advance(minute);
    const again = await dashboard.signIn(email);
    for (const path of ['/dashboard', '/dashboard/keys', '/dashboard/me']) {
      expect((await again.get(path)).location).toBe('/dashboard/me/second-factor');
    }
    const newPassword = '/dashboard/account/new-password';
    expect((await again.get(newPassword)).status).toBe(200);
    expect((await again.post(newPassword, { wanted: password })).status).toBe(303);
    const sent = await again.post('/dashboard', { name: 'Shop', once: 'form_demand' });
    expect(textOf(sent.text)).toContain('This page keeps what you entered');
    await setUp(again);
    expect(await isIn(again)).toBe(true);
    await dashboard.container.get(AccessKey).demandFactor(accountId, false);
  });

  test('keeps a form that is sent before the setup, also over the sign-in', async () => {
    const { accountId, email, visitor } = await dashboard.newOwner();
    await visitor.post('/dashboard/me/password', { wanted: password });
    await dashboard.container.get(AccessKey).demandFactor(accountId, true);
    dashboard.clock.advance(minute);
    visitor.cookie = undefined;
    const sent = await visitor.post('/dashboard', { name: 'Shop', once: 'form_demand' });
    const signIn = { email, password, kept: fieldsOf(sent.text)['kept'] ?? '' };
    let waiting = await visitor.post('/dashboard/sign-in', signIn);
    const goOn = () =>
      visitor.post('/dashboard/sign-in', { kept: fieldsOf(waiting.text)['kept'] ?? '' });
    for (let times = 0; times < 2; times++) {
      expect(textOf(waiting.text)).toContain('requires a second factor');
      waiting = await goOn();
    }
    await setUp(visitor);
    expect(fieldsOf((await goOn()).text)).toMatchObject({ name: 'Shop' });
    expect(await dashboard.container.get(SitesKey).listProjects(accountId)).toEqual([]);
  });
});

test('your own page shows each session with its device, its network and its last use', async () => {
  const { email, visitor } = await dashboard.newOwner();
  dashboard.clock.advance(minute);
  await dashboard.signIn(email, 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0');
  dashboard.clock.advance(5 * minute);
  const { text } = await visitor.get('/dashboard/me');
  const words = textOf(text);
  expect(words).toContain('Firefox on Linux');
  expect(words).toMatch(/192\.0\.2\.\d+/);
  const again = textOf((await visitor.get('/dashboard/me')).text);
  expect(again).toMatch(/this browser.*127\.0\.0\.1/s);
});

test('a person who leaves the account loses access at once, and the last owner cannot leave', async () => {
  const { accountId, visitor } = await dashboard.newOwner();
  const email = `leaver@${accountId.replace('_', '-')}.example`;
  await dashboard.container.get(AccessKey).invite(accountId, email, 'viewer');
  dashboard.clock.advance(minute);
  const leaver = await dashboard.signIn(email);
  const leave = '/dashboard/account/people/leave';
  const { location = '' } = await leaver.post(leave);
  expect(textOf((await leaver.get(location)).text)).toContain('You have left the account.');
  expect(await isIn(leaver)).toBe(false);
  const refused = await visitor.post(leave);
  expect([refused.status, textOf(refused.text)]).toEqual([
    422,
    expect.stringContaining('is the only owner of this account'),
  ]);
});
