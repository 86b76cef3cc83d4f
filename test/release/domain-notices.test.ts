import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { goLive } from '../lab/going-live.ts';
import type { Shop } from '../lab/shop.ts';
import { ownersKinds } from '../../src/notifications/domain/kinds.ts';
import { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { MailServer } from '../support/servers/mail-server.ts';
import type { Service } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';
import { idOf, Receivers, type Received } from '../support/webhooks/receivers.ts';

const host = 'www.told.test';
const day = 24 * 60 * 60;

let clock: FakeClock;
let mails: MailServer;
let receivers: Receivers;
let lab: DomainLab;
let shop: Shop;
let service: Service;
beforeAll(async () => {
  [clock, mails, receivers] = await Promise.all([
    newFakeClock(),
    MailServer.start(),
    Receivers.open(),
  ]);
  lab = await openDomainLab('sqlite', {
    ...clock.settings,
    // In production, webhooks never call this machine.
    NODE_ENV: 'test',
    SMTP_URL: mails.url,
    MAIL_FROM: 'store@zoo.example',
  });
  shop = await lab.openShop('told', 'pro');
  service = await lab.start();
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await Promise.all([clock.remove(), mails.stop(), receivers.close()]);
});

/** Adds a webhook like the owner. @returns the secret */
const addWebhook = async (): Promise<string> => {
  const owner = new DashboardVisitor(service.origin);
  await owner.get(new URL(shop.signInUrl).pathname);
  const page = await owner.get('/dashboard/webhooks');
  const [, once = ''] = /name="once" value="([^"]+)"/.exec(page.text) ?? [];
  const fields = { address: receivers.urlOf(1), kinds: ownersKinds.join(','), once };
  const { text } = await owner.post('/dashboard/webhooks', fields);
  const [secret = ''] = /whsec_[\w+/=]+/.exec(text) ?? [];
  return secret;
};

const minute = 60;
const told = () => lab.facts.notices(shop.accountId);

/** Small enough that a jump of the clock never makes a mail too old to be sent. */
const longestStep = 10 * minute;

/**
 * Advances the clock until the newest notice is of this kind, but never while the domain is in progress.
 * Then kills the process, whatever else it is announcing.
 */
const untilTold = async (kind: string): Promise<void> => {
  const isTold = async () => (await told()).at(-1) === kind;
  while (!(await isTold())) {
    const rest = await until(`${kind} is told, or no work is left`, async () => {
      const at = await lab.facts.restUntil([host], clock.now(), ['added', 'verified', 'live']);
      return at ?? (await isTold());
    });
    if (rest === true) break;
    const seconds = Math.ceil((rest.getTime() - clock.now().getTime()) / 1000);
    await clock.advance(Math.min(seconds, longestStep));
  }
  await service.end('SIGKILL');
  service = await lab.start();
  const { length } = await told();
  // Lets the leases of the dead process end.
  let passed = 0;
  await until(`${kind} is sent`, async () => {
    if (passed < longestStep) await clock.advance(5);
    passed += 5;
    return called().length >= length && mailed().length >= length;
  });
  await clock.advance(Math.max(1, longestStep - passed));
};

/**
 * The messages that arrived by webhook, in order. A repeated message, which has the same id, counts once.
 */
const called = (): readonly string[] => {
  const messages = new Map(receivers.received.map((one) => [idOf(one), one.body]));
  return [...messages.values()].map((body) => (JSON.parse(body) as { type: string }).type);
};

/** Verified at the time of the service instead of the library's. */
const isSigned = (secret: string, { headers, body }: Received): boolean => {
  const at = new Date(1000 * Number(headers['webhook-timestamp']));
  const signature = new Webhook(secret).sign(String(headers['webhook-id']), at, body);
  return signature === headers['webhook-signature'];
};

/** The subjects of the mails that arrived. A repeated message, which has the same id, counts once. */
const mailed = (): readonly (string | undefined)[] => [
  ...new Map(mails.taken.map(({ messageId, subject }) => [messageId, subject])).values(),
];

test('each step in the life of a domain is announced once in each channel, even if the process is killed after each notice', async () => {
  const secret = await addWebhook();
  const { records } = await shop.add(host);
  lab.zone.create(records[0]);
  await shop.verify(host);
  await goLive({ lab, clock }, host);
  await untilTold('domain.live');
  lab.zone.set(host, { A: ['203.0.113.9'] });
  await untilTold('domain.unhealthy');
  lab.zone.set(host, { CNAME: [records[0].value] });
  await untilTold('domain.recovered');
  // Only the authority does not find the name, so the renewal fails.
  lab.zone.lie(host, {});
  await clock.advance(60 * day);
  await untilTold('certificate.failing');
  lab.zone.lie(host, undefined);
  await untilTold('certificate.recovered');
  const rival = await lab.openShop('rival', 'pro');
  const { records: claimed } = await rival.add(host);
  for (const { fqdn } of claimed) lab.zone.remove(fqdn);
  lab.zone.create(...claimed);
  await until('it is proven', async () => {
    await clock.advance(11);
    const shown = await rival.verify(host).catch(() => undefined);
    return shown?.domain.state === 'live';
  });
  await untilTold('domain.contested');
  await clock.advance(day);
  const life = [
    ...['domain.live', 'domain.unhealthy', 'domain.recovered'],
    ...['certificate.failing', 'certificate.recovered', 'domain.contested'],
  ];
  expect(await told()).toEqual(life);
  expect(called().toSorted()).toEqual(life.toSorted());
  expect(receivers.received.filter((one) => !isSigned(secret, one))).toEqual([]);
  expect(mailed()).toHaveLength(life.length);
  expect(mailed().filter((subject) => !subject?.includes(host))).toEqual([]);
  expect((await lab.facts.notices(rival.accountId)).slice(0, 1)).toEqual(['domain.contested']);
});
