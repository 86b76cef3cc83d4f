import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { MailServer } from '../support/servers/mail-server.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { newHome, type Home, type Service } from '../support/service/service-process.ts';
import { plainTree } from '../support/sites/direct-unpacking.ts';
import { until } from '../support/until.ts';

const secretKey = 'f3kq0v7m2xw9t4c6b1n5hj8rd0gy3s8z';
const owner = 'owner@zoo.example';

let mails: MailServer;
let home: Home;
let accountId: string;
let service: Service;
beforeAll(async () => {
  mails = await MailServer.start();
  home = await newHome(await migratedDatabase('sqlite'));
  const account = ['account', 'create', '--name', 'Zoo', '--email', owner, '--plan', 'pro'];
  const { stdout } = await home.run([...account, '--json']);
  ({ id: accountId } = (JSON.parse(stdout) as { account: { id: string } }).account);
  service = await start();
});
afterAll(async () => {
  await home.remove();
  await mails.stop();
});

const start = (): Promise<Service> =>
  home.start({
    SECRET_KEY: secretKey,
    ALLOW_TEST_DOMAINS: '1',
    ROLES: 'api,dashboard,worker',
    SMTP_URL: mails.url,
    MAIL_FROM: 'Animal Store <store@shop.example>',
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

test('what happens to a project is mailed to its owners', async () => {
  const create = ['project', 'create', '--account', accountId, '--name', 'Birds'];
  expect(await home.run(create)).toMatchObject({ code: 0 });
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-told-'));
  const site = await plainTree(join(folder, 'site'), { 'about.html': 'Birds' });
  expect(await home.run(['deploy', site, '--project', 'birds'])).toMatchObject({ code: 1 });
  await rm(folder, { recursive: true });
  const mail = await until('it comes', () =>
    mails.taken.find(({ subject }) => subject?.includes('Deploy 1 of birds failed')),
  );
  expect(mail.to).toMatchObject([{ address: owner }]);
});
