import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { databaseKinds } from '../support/servers/databases.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { MailServer } from '../support/servers/mail-server.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { newHome, type Home } from '../support/service/service-process.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { until } from '../support/until.ts';

const seed = Number(process.env['CRASH_SEED'] ?? randomInt(1_000_000));
const invited = Array.from({ length: 12 }, (_, n) => `keeper-${n}@zoo.example`);
const forgetful = invited.slice(0, 6);
const owner = 'owner@zoo.example';
const firstLine = /^.*$/m;

const json = async <Shape>(home: Home, ...args: readonly string[]): Promise<Shape> =>
  JSON.parse((await home.run([...args, '--json'])).stdout) as Shape;

describe.each(databaseKinds)(`mails to people on %s (CRASH_SEED=${seed})`, (kind) => {
  test('arrive once each, however often the workers that write and send them are killed', async () => {
    const random = seededRandom(seed);
    const server = await MailServer.start();
    const home = await newHome(await migratedDatabase(kind));
    const facts = new StoredFacts(home.settings['DATABASE_URL'] ?? '');
    const mail = {
      SMTP_URL: server.url,
      MAIL_FROM: 'Animal Store <store@shop.example>',
      PUBLIC_URL: `http://127.0.0.1:${home.settings['PORT'] ?? ''}/v1`,
    };
    const apart = { ...mail, ROLES: 'worker', PORT: String(await findFreePort()) };
    const web = await home.start({ ...mail, ROLES: 'api,dashboard' });

    const created = await json<{ account: { id: string }; signInUrl: string }>(
      home,
      ...['account', 'create', '--name', 'Zoo & Friends', '--email', owner, '--plan', 'pro'],
    );
    const visitor = new DashboardVisitor(web.origin);
    await visitor.get(new URL(created.signInUrl).pathname);
    const wanted = { wanted: 'seven quiet tortoises' };
    expect((await visitor.post('/dashboard/me/password', wanted)).status).toBe(303);
    for (const email of invited) {
      const invite = ['user', 'invite', '--account', created.account.id, '--email', email];
      const { code, stdout } = await home.run(invite, mail);
      expect([code, stdout]).toEqual([0, expect.stringContaining('gets another link by mail')]);
    }
    for (const email of [...forgetful, 'nobody@zoo.example']) {
      const asked = await new DashboardVisitor(web.origin).post(
        '/dashboard/forgot-password',
        { email },
        { Host: 'evil.test', 'X-Forwarded-Host': 'evil.test' },
      );
      expect(asked.status).toBe(200);
    }

    const expected = [
      `Your password was changed to ${owner}`,
      ...invited.map((email) => `You are invited to Zoo & Friends to ${email}`),
      ...forgetful.map((email) => `Choose a new password to ${email}`),
    ].sort();
    for (let kills = 0; kills < 2; kills += 1) {
      const before = server.taken.length;
      const worker = await home.start(apart);
      await until(
        'it has begun',
        async () => server.taken.length > before || (await facts.unsentMails()) === 0,
      );
      await delay(random() * 60);
      await worker.end('SIGKILL');
      await facts.endLeases();
    }
    const worker = await home.start(apart);
    await until('all are sent', async () => {
      const { waiting } = await facts.undelivered();
      return waiting === 0 && (await facts.unsentMails()) === 0;
    });
    await worker.end('SIGTERM');
    expect(await facts.undelivered()).toEqual({ waiting: 0, parked: 0 });

    // A mail that another worker sent again has the same id, so mail programs show it once.
    const mails = new Map(server.taken.map((one) => [one.messageId, one]));
    const told = [...mails.values()].map(
      ({ text = '', to }) => `${firstLine.exec(text)?.[0] ?? ''} to ${to?.[0]?.address ?? ''}`,
    );
    expect(told.sort()).toEqual(expected);

    const links = server.taken.flatMap(
      ({ text = '' }) => text.match(/http\S+sign-in\/\w{43}\S*/g) ?? [],
    );
    expect(links.every((link) => link.startsWith(`${web.origin}/dashboard/`))).toBe(true);
    const output = web.stdout() + web.stderr() + worker.stdout() + worker.stderr();
    for (const one of links) expect(output).not.toContain(/sign-in\/(\w+)/.exec(one)?.[1]);
    await web.end('SIGTERM');
    await server.stop();
    await facts.close();
    await home.remove();
  });
});
