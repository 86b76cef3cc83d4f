import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { restMs } from '../../src/access/domain/mail-request.ts';
import { AuditLog } from '../../src/access/ports.ts';
import { AccessKey, NotificationsKey } from '../../src/app/keys.ts';
import { Sealer } from '../../src/kernel/ports.ts';
import { Mails } from '../../src/notifications/ports.ts';
import { unsubscribeToken } from '../../src/notifications/use-cases/mail.ts';
import { RecordingTracer } from '../support/recording-tracer.ts';
import { elementsIn, problemsIn, textOf } from '../support/dashboard/markup.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';
import type { PageAnswer } from '../support/dashboard/visitor.ts';

const pages = ['/dashboard/forgot-password', '/dashboard/sign-in-link'] as const;
const [forgot, byLink] = pages;
const minute = 60_000;
const password = 'seven quiet tortoises';

const tracer = new RecordingTracer();
let dashboard: RunningDashboard;
let owner: Owner;
let both: string;
beforeAll(async () => {
  const settings = {
    SMTP_URL: 'smtp://127.0.0.1:2525',
    MAIL_FROM: 'Animal Store <store@shop.example>',
    TRUST_PROXY: '1',
  };
  dashboard = await startDashboard({ settings, tracer });
  owner = await dashboard.newOwner({ name: 'Zoo & Friends' });
  const other = await dashboard.newOwner({ name: 'Bird shop' });
  const invited = await dashboard.container.get(AccessKey).invite(other.accountId, owner.email);
  both = invited.person.email;
});
afterAll(() => dashboard.close());
// Attempts are counted by the minute, which ends in no test, and mails to an address by the hour.
beforeEach(() => {
  const { clock } = dashboard;
  clock.advance(25 * 60 * minute - (clock.now().getTime() % minute));
});

const from = (network: string) => ({ 'X-Forwarded-For': network });
const ask = (email: string, path: string = forgot, network = '198.51.100.1') =>
  dashboard.stranger().post(path, { email }, from(network));
/** Answers the requests. @returns the waiting mails, with their facts */
const work = async () => {
  const { container, clock } = dashboard;
  clock.advance(restMs);
  await container.get(AccessKey).answerMailRequests(() => false);
  const mails = container.get(Mails);
  const leaseUntil = new Date(clock.now().getTime() + minute);
  const due = await mails.claim(clock.now(), leaseUntil, { limit: 100 });
  for (const one of due) await mails.sent(one, clock.now());
  return due.flatMap(({ to, tells }) => tells().map((told) => ({ to, ...told })));
};
const linksIn = async (): Promise<readonly string[]> =>
  (await work()).flatMap((mail) =>
    mail.kind === 'sign_in.link' ? mail.about.links.map(({ path }) => path) : [],
  );

describe('the sign-in page', () => {
  test('links to both kinds of mail', async () => {
    const { text } = await dashboard.stranger().get('/dashboard/sign-in');
    const links = elementsIn(text, 'a').map(({ attributes, text: its }) => [
      attributes['href'],
      its,
    ]);
    expect(links).toEqual(
      expect.arrayContaining([
        [forgot, 'Forgot password?'],
        [byLink, 'Sign in by a link'],
      ]),
    );
    expect(text).not.toContain('The operator of this service');
  });

  test('names whom to ask when no mail is sent, and has no pages for mailed links', async () => {
    const silent = await startDashboard();
    try {
      const { text } = await silent.stranger().get('/dashboard/sign-in');
      expect(text).toContain('The operator of this service creates one');
      for (const path of pages) {
        expect(text).not.toContain(path);
        expect((await silent.stranger().get(path)).status).toBe(404);
        expect((await silent.stranger().post(path, { email: owner.email })).status).toBe(404);
      }
    } finally {
      await silent.close();
    }
  });
});

describe('asking for a link', () => {
  /** Everything that a visitor could compare, without the parts that differ between any two answers. */
  const shown = ({ status, headers, text }: PageAnswer, typed: string) => ({
    status,
    headers: [...headers]
      .filter(([name]) => !['date', 'x-request-id', 'content-length'].includes(name))
      .sort(),
    text: text.replaceAll(typed, 'TYPED'),
  });
  const statements = async (work: () => Promise<unknown>) => {
    tracer.steps.length = 0;
    await work();
    return tracer.steps
      .filter(({ facts }) => 'db.system.name' in facts)
      .map(({ name, facts }) => [name, facts['db.query.text']]);
  };

  test.each(pages)(
    'is answered in the same way, after the same statements, whether an address is known or not (%s)',
    async (path) => {
      const { email } = owner;
      const unknown = 'owner-9@zoo.example';
      const usual = shown(await ask(unknown, path), unknown);
      expect(usual.status).toBe(200);
      expect(usual.text).toContain('If there is an account for <strong>TYPED</strong>');
      const usually = await statements(() => ask(unknown, path));
      expect(usually.map(([name]) => name)).toEqual(['INSERT mail_requests']);
      await work();
      // A known address with several accounts, beyond its limit from the fourth request on.
      for (const typed of [email, both, email, email, email, email]) {
        expect(shown(await ask(typed, path), typed)).toEqual(usual);
        expect(await statements(() => ask(typed, path))).toEqual(usually);
        await work();
      }
    },
  );

  test.each([
    ['', 'Enter your email address.'],
    ['keeper', 'is not an email address'],
    [`${'k'.repeat(300)}@zoo.example`, 'has at most 254 characters'],
    ['keeper@zoo.example\r\nBcc: all@zoo.example', 'is not an email address'],
  ])('refuses %j next to the field', async (typed, message) => {
    const { status, text } = await ask(typed);
    expect([status, problemsIn(text)['email']]).toEqual([422, expect.stringContaining(message)]);
    expect(await work()).toEqual([]);
  });

  test('is not logged, in any part', async () => {
    await ask(owner.email);
    const [link = ''] = await linksIn();
    await dashboard.stranger().get(link);
    const secret = /sign-in\/(\w{43})/.exec(link)?.[1] ?? 'none';
    const entries = await dashboard.container.get(AuditLog).list(owner.accountId, 100);
    expect(entries.map(({ what }) => what)).toContain('sign_in_link_mailed');
    for (const text of [
      dashboard.log.join(''),
      JSON.stringify(entries),
      JSON.stringify(tracer.steps),
    ]) {
      expect(text).not.toContain(secret);
    }
    expect(dashboard.log.join('')).not.toContain(owner.email);
  });
});

describe('a mailed link', () => {
  test('is not used up by a mail scanner that follows it, and signs in with one button', async () => {
    await ask(owner.email, byLink);
    const [link = ''] = await linksIn();
    expect(link).toMatch(/^\/dashboard\/sign-in\/\w{43}\?by=mail$/);
    for (const headers of [{}, { 'Sec-Fetch-Site': 'none' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
      const { status, text, headers: told } = await dashboard.stranger().get(link, headers);
      expect([status, told.getSetCookie()]).toEqual([200, []]);
      expect(elementsIn(text, 'button').map((one) => one.text)).toEqual(['Sign in']);
    }
    const visitor = dashboard.stranger();
    expect(await visitor.post(link)).toMatchObject({ status: 303, location: '/dashboard' });
    expect((await visitor.get('/dashboard')).status).toBe(200);
    expect((await dashboard.stranger().post(link)).status).toBe(422);
    expect((await dashboard.stranger().get(link)).status).toBe(422);
  });

  test('lets somebody who forgot their password choose a new one, without the old', async () => {
    for (const path of [forgot, byLink]) await ask(owner.email, path);
    const [link = '', , later = ''] = await linksIn();
    const visitor = dashboard.stranger();
    const { location = '' } = await visitor.post(link);
    expect(location).toBe('/dashboard/account/new-password');
    const { text } = await visitor.get(location);
    expect(elementsIn(text, 'input').map(({ attributes }) => attributes['name'])).toEqual([
      ...['q', 'username', 'wanted'],
    ]);
    const refused = await visitor.post(location, { wanted: 'short' });
    expect([refused.status, problemsIn(refused.text)['wanted']]).toEqual([
      422,
      expect.stringContaining('12 to 200'),
    ]);
    expect(refused.text).toContain('Choose a password');
    expect(await visitor.post(location, { wanted: password })).toMatchObject({
      status: 303,
      location: expect.stringContaining('/dashboard/me?done=password.') as unknown,
    });
    expect((await dashboard.stranger().post(later)).status).toBe(422);
    const again = dashboard.stranger();
    const signedIn = await again.post('/dashboard/sign-in', { email: owner.email, password });
    expect(signedIn.status).toBe(303);
    const asked = await again.get(location);
    expect(asked.text).toContain('Current password');
  });

  test.each(['//evil.test', 'https://evil.test/', '/\\evil.test'])(
    'leads to no other page, whatever is added to it (%s)',
    async (elsewhere) => {
      await ask(owner.email, byLink);
      const [link = ''] = await linksIn();
      const { location } = await dashboard
        .stranger()
        .post(`${link}&next=${encodeURIComponent(elsewhere)}`);
      expect(location).toBe('/dashboard');
    },
  );
});

describe('inviting somebody', () => {
  test('shows a link and says that the person also gets one by mail; "Send again" sends a new one', async () => {
    const { accountId } = owner;
    const visitor = await dashboard.signIn(owner.email);
    const access = dashboard.container.get(AccessKey);
    const email = 'keeper@zoo.example';
    const path = '/dashboard/account/people';
    const invited = await visitor.post(path, { email, role: 'owner', once: 'form_0000001' });
    expect([invited.status, textOf(invited.text)]).toEqual([
      201,
      expect.stringContaining(`We send ${email} another one by mail`),
    ]);
    const { id } = (await access.listPeople(accountId)).find((one) => one.email === email)!;
    const page = await visitor.get('/dashboard/account/people');
    expect(textOf(page.text)).toContain('Send again');
    const again = await visitor.post(`${path}/${id}/link`, { once: 'form_0000002' });
    expect(textOf(again.text)).toContain(`We send ${email} another one by mail`);
    const own = (await access.listPeople(accountId)).find((one) => one.email === owner.email)!;
    const mine = await visitor.post(`${path}/${own.id}/link`, { once: 'form_0000003' });
    expect(textOf(mine.text)).not.toMatch(/another one by mail|do not send email/);
  });

  test('says when the link is not mailed because of the limits of the address or the account', async () => {
    const { visitor, accountId } = await dashboard.newOwner({ name: 'Fish shop' });
    const access = dashboard.container.get(AccessKey);
    const invite = (email: string, once: number) =>
      visitor.post('/dashboard/account/people', {
        email,
        role: 'owner',
        once: `form_${String(1_000_000 + once)}`,
      });
    const email = 'ben@fish.example';
    for (let time = 0; time < 3; time++) {
      expect(textOf((await invite(email, time)).text)).toContain('another one by mail');
      const { id } = (await access.listPeople(accountId)).find((one) => one.email === email)!;
      const about = { accountId, occurredAt: dashboard.clock.now(), personId: id, email };
      const event = { type: 'link_mail_wanted', ...about, whose: 'newcomer' } as const;
      await access.wantMail({ id: `evt_${accountId}_${time}`, actor: 'service', event });
      await work();
    }
    const fourth = await invite(email, 4);
    expect(textOf(fourth.text)).toContain(
      `We did not mail it: ${email} has reached the limit of invitations`,
    );
    expect(fourth.text).toContain('/dashboard/sign-in/');
    for (let n = 5; n < 21; n++) expect((await invite(`k${n}@fish.example`, n)).status).toBe(201);
    const refused = await invite('one-more@fish.example', 21);
    expect([refused.status, textOf(refused.text)]).toEqual([
      ...[429, expect.stringMatching(/Your account has invited too many people. Try again in/)],
    ]);
    expect(await access.listPeople(accountId)).toHaveLength(18);
  });
});

describe('the link to unsubscribe', () => {
  let owner: Owner;
  let personId: string;
  let path: string;
  beforeEach(async () => {
    owner = await dashboard.newOwner();
    personId = (await dashboard.container.get(AccessKey).listPeople(owner.accountId))[0]!.id;
    const sealer = dashboard.container.get(Sealer);
    const token = unsubscribeToken({ sealer }, personId, ['key.banned', 'domain.live']);
    path = `/dashboard/unsubscribe?token=${token}`;
  });

  const off = async () => [
    ...(await dashboard.container.get(NotificationsKey).mailKindsOff(personId)),
  ];
  const post = (headers: Readonly<Record<string, string>> = {}, at = path) =>
    dashboard.stranger().send(at, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      body: 'List-Unsubscribe=One-Click',
    });

  test('changes nothing until the form is sent, however often it is opened', async () => {
    for (let times = 0; times < 2; times += 1) {
      const { status, text: body } = await dashboard.stranger().get(path);
      expect(status).toBe(200);
      expect(body).toContain('A custom domain went live.');
      expect(body.match(/<button class="main"/g)).toHaveLength(1);
    }
    expect(await off()).toEqual([]);
  });

  test.each([
    [{}],
    [{ 'Sec-Fetch-Site': 'cross-site', Origin: 'https://mail.example' }],
    [{ 'Content-Type': 'multipart/form-data; boundary=x' }],
  ])('ends the mails with one click, without signing in (%j)', async (headers) => {
    const { status, text: body } = await post(headers);
    expect(status).toBe(200);
    expect(body).toContain('You are unsubscribed');
    expect(await off()).toEqual(expect.arrayContaining(['key.banned', 'domain.live']));
    expect((await post(headers)).status).toBe(200);
  });

  test('ends the mails of the person it was sent to, whoever is signed in', async () => {
    const other = await dashboard.newOwner();
    await other.visitor.send(path, { method: 'POST', headers: { 'Sec-Fetch-Site': 'none' } });
    expect(await off()).toHaveLength(2);
  });

  test.each([
    ['none', ''],
    ['a changed token', '?token=v1.AAAA'],
    ['a sealed value with another purpose', '?token=PURPOSE'],
  ])('changes nothing with a token that is %s', async (_what, query) => {
    const sealed = dashboard.container.get(Sealer).seal(`${personId} key.banned`, 'something else');
    const at = `/dashboard/unsubscribe${query.replace('PURPOSE', sealed)}`;
    expect((await post({}, at)).status).toBe(404);
    expect((await dashboard.stranger().get(at)).status).toBe(404);
    expect(await off()).toEqual([]);
  });
});
