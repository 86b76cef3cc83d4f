import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { databaseKinds } from '../support/servers/databases.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { MailServer } from '../support/servers/mail-server.ts';
import { newHome, type Home, type Service } from '../support/service/service-process.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { until } from '../support/until.ts';
import { signInFirst } from '../support/dashboard/visitor.ts';

const mails = 5;

describe.each(databaseKinds)('mail with %s', (kind) => {
  let server: MailServer;
  let home: Home;
  let facts: StoredFacts;
  let isHanging = true;
  let hanging = 0;
  beforeAll(async () => {
    server = await MailServer.start({
      answer: () => {
        if (isHanging) hanging += 1;
        return isHanging ? 'hang' : undefined;
      },
    });
    home = await newHome(await migratedDatabase(kind));
    facts = new StoredFacts(home.settings['DATABASE_URL'] ?? '');
  });
  afterAll(async () => {
    await facts.close();
    await home.remove();
    await server.stop();
  });
  const worker = (ROLES = 'worker'): Promise<Service> =>
    home.start({ ROLES, SMTP_URL: server.url, MAIL_FROM: 'store@shop.example' });

  test('is sent completely even if workers are killed while sending, and a server that hangs delays nothing else', async () => {
    const used = { used: 10, limit: 10 };
    const details = (n: number) => ({ ...used, resetsAt: `2026-03-0${n + 2}T00:00:00.000Z` });
    const first = await worker('api,dashboard,worker');
    await signInFirst(first);
    await facts.happen('quota_reached', mails, details, 'mail', 'notices');
    await until('the mail server hangs at all it takes at once', () => hanging >= 12);
    await until('all notices are there', async () => (await facts.notices()).length === mails);
    expect((await facts.undelivered()).parked).toBe(0);
    await first.end('SIGKILL');
    isHanging = false;
    for (let kills = 0; kills < 2; kills += 1) {
      await facts.endLeases();
      const taken = server.taken.length;
      const next = await worker();
      await until('it has sent one', () => server.taken.length > taken || taken >= mails);
      await next.end('SIGKILL');
    }
    await facts.endLeases();
    const last = await worker();
    await until('all is told', async () => (await facts.undelivered()).waiting === 0);
    await until('nothing waits', async () => (await facts.unsentMails()) === 0);
    expect(await last.end('SIGTERM')).toMatchObject({ code: 0 });
    const bySubject = new Map(server.taken.map((mail) => [mail.subject, mail.messageId]));
    expect(bySubject.size).toBe(mails);
    expect(new Set(server.messageIds)).toEqual(new Set(bySubject.values()));
  });
});
