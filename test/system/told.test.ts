import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { MailServer } from '../support/servers/mail-server.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { newHome, type Home, type Service } from '../support/service/service-process.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { until } from '../support/until.ts';
import { idOf, isSignedWith, Receivers } from '../support/webhooks/receivers.ts';
import { StoredWebhooks } from '../support/webhooks/stored-webhooks.ts';

const secretKey = 'f3kq0v7m2xw9t4c6b1n5hj8rd0gy3s8z';
const owner = 'owner@zoo.example';
const notices = 5;

let mails: MailServer;
let receivers: Receivers;
let home: Home;
let facts: StoredFacts;
let webhooks: StoredWebhooks;
let service: Service;
beforeAll(async () => {
  [mails, receivers] = await Promise.all([MailServer.start(), Receivers.open()]);
  home = await newHome(await migratedDatabase('sqlite'));
  const url = home.settings['DATABASE_URL'] ?? '';
  [facts, webhooks] = [new StoredFacts(url), new StoredWebhooks(url, secretKey)];
  const account = ['account', 'create', '--name', 'Zoo', '--email', owner, '--plan', 'pro'];
  expect(await home.run(account)).toMatchObject({ code: 0 });
  service = await start();
});
afterAll(async () => {
  await webhooks.close();
  await facts.close();
  await home.remove();
  await Promise.all([mails.stop(), receivers.close()]);
});

const start = (): Promise<Service> =>
  home.start({
    ...{ SECRET_KEY: secretKey, ALLOW_TEST_DOMAINS: '1', ROLES: 'api,dashboard,worker' },
    ...{ SMTP_URL: mails.url, MAIL_FROM: 'Animal Store <store@shop.example>' },
    PUBLIC_URL: `http://127.0.0.1:${home.settings['PORT'] ?? ''}/v1`,
  });

test('a link for a new password comes by mail, leads to our own pages, and is in no log', async () => {
  const forged = { Host: 'evil.test', 'X-Forwarded-Host': 'evil.test' };
  const visitor = new DashboardVisitor(service.origin);
  const asked = await visitor.post('/dashboard/forgot-password', { email: owner }, forged);
  expect(asked.status).toBe(200);
  const mail = await until('it comes', () =>
    mails.taken.find(({ subject }) => subject?.includes('Choose a new password')),
  );
  const [link = ''] = /http\S+sign-in\/\w{43}\S*/.exec(mail.text ?? '') ?? [];
  expect(link).toMatch(new RegExp(`^${service.origin}/dashboard/sign-in/`));
  const elsewhere = new DashboardVisitor(service.origin);
  const path = link.slice(service.origin.length);
  expect((await elsewhere.get(path)).status).toBe(200);
  expect((await elsewhere.post(path)).location).toBe('/dashboard/account/new-password');
  const [, secret = 'none'] = /sign-in\/(\w+)/.exec(link) ?? [];
  expect(service.stdout() + service.stderr()).not.toContain(secret);
});

test('each notice comes once by mail and once by webhook, signed, though the worker is killed while it tells them', async () => {
  const address = receivers.urlOf(1);
  const { secret } = await webhooks.add(address, 'quota.reached');
  const details = (n: number) => ({
    ...{ used: 10, limit: 10 },
    resetsAt: `2026-03-0${String(n + 2)}T00:00:00.000Z`,
  });
  await facts.happen('quota_reached', notices, details, 'mail', 'notices', 'webhooks');
  await until('it has begun to call', () => receivers.received.length > 0);
  await service.end('SIGKILL');
  await facts.endLeases();
  await webhooks.endLeases();
  service = await start();
  await until('all is told', async () => {
    const { waiting } = await facts.undelivered();
    const { delivered = 0 } = await webhooks.states();
    return waiting === 0 && delivered === notices && (await facts.unsentMails()) === 0;
  });
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(await facts.undelivered()).toEqual({ waiting: 0, parked: 0 });

  const told = await facts.notices();
  expect([told.length, new Set(told).size]).toEqual([notices, notices]);
  // One that was sent again has the same id, so receivers and mail programs show it once.
  expect(new Set(receivers.received.map(idOf)).size).toBe(notices);
  expect(receivers.received.filter((one) => !isSignedWith(secret, one))).toEqual([]);
  const sent = mails.taken.filter(({ subject }) => !subject?.includes('password'));
  expect(new Set(sent.map(({ messageId }) => messageId)).size).toBe(notices);
  expect(new Set(sent.map(({ subject }) => subject)).size).toBe(notices);
});
