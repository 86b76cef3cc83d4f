import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { banApiKey } from '../../src/access/domain/api-key.ts';
import { ApiKeys } from '../../src/access/ports.ts';
import { signedCode } from '../../src/adapters/dashboard/frame/sent-form.ts';
import { UuidIds } from '../../src/adapters/system/system-ports.ts';
import { AccessKey, CatalogueKey, SitesKey, WebhookCallsKey } from '../../src/app/keys.ts';
import { Acting } from '../../src/kernel/ports.ts';
import { ownersKinds } from '../../src/notifications/domain/kinds.ts';
import { mostWebhooks, type Webhook } from '../../src/notifications/domain/webhook.ts';
import type { Project } from '../../src/sites/domain/project.ts';
import type { Sites } from '../../src/sites/sites.ts';
import { addPing, answered, attemptAll } from '../support/dashboard/filling.ts';
import { elementsIn, textOf } from '../support/dashboard/markup.ts';
import {
  type Owner,
  type RunningDashboard,
  startDashboard,
} from '../support/dashboard/running-dashboard.ts';
import { DashboardStream } from '../support/dashboard/stream.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/sites.ts';

let dashboard: RunningDashboard;
let owner: Owner;
beforeAll(async () => {
  dashboard = await startDashboard({ now: new Date('2026-03-01T16:19:05Z') });
  owner = await dashboard.newOwner();
});
afterAll(() => dashboard.close());

const done = (code: string): string =>
  `/dashboard/keys?done=${signedCode(owner.visitor.cookie?.split('=')[1] ?? '', code)}`;

test('a page confirms what one of its own forms did, and nothing that a foreign link claims', async () => {
  const { text } = await owner.visitor.get(done('revoked'));
  expect(text).toContain('role="status">The key is revoked.');
  const other = await dashboard.newOwner();
  for (const path of [done('revoked'), '/dashboard/keys?done=revoked']) {
    const claimed = await other.visitor.get(path);
    expect(claimed.text).not.toContain('role="status"');
  }
});

test.each(['nothing', '', 'constructor', 'toString', '__proto__'])(
  'a page ignores the result %j, because none of its forms has it',
  async (code) => {
    const { status, text } = await owner.visitor.get(done(code));
    expect(status).toBe(200);
    expect(text).not.toContain('role="status"');
  },
);

describe('the limits of an account', () => {
  let sites: Sites;
  beforeAll(() => {
    sites = dashboard.container.get(SitesKey);
  });

  const ids = new UuidIds();
  const start = ({ visitor }: Owner, name: string) =>
    visitor.post('/dashboard', { name, once: ids.next('form') });
  const deploy = (project: Project, bytes = 10) =>
    deployEntries(dashboard.container, project, entry('index.html', 'x'.repeat(bytes)));
  const pageOf = ({ slug }: Project) => `/dashboard/projects/${slug}`;
  const read = async ({ visitor }: Owner, path: string) => textOf((await visitor.get(path)).text);

  test('a fourth project on the plan Free is refused with the limit and the plan', async () => {
    const owner = await dashboard.newOwner({ plan: 'free' });
    for (const name of ['One', 'Two', 'Three']) expect((await start(owner, name)).status).toBe(303);
    const refused = await start(owner, 'Four');
    expect(refused.status).toBe(422);
    expect(textOf(refused.text)).toContain('The plan Free has room for 3 projects');
    expect(await sites.listProjects(owner.accountId)).toHaveLength(3);
    expect(await read(owner, '/dashboard/account')).toMatch(/Projects\s+3 of 3/);
  });

  test('a project with a reserved name gets a numbered address, and the page says why', async () => {
    const owner = await dashboard.newOwner();
    const { location = '' } = await start(owner, 'App');
    expect(location).toContain('/dashboard/projects/app-2');
    expect(await read(owner, location)).toContain('the name alone is reserved');
  });

  test('an owner deletes a deploy that is not served, and sees what the account keeps', async () => {
    const owner = await dashboard.newOwner({ plan: 'free' });
    const project = await sites.startProject(owner.accountId, 'Kept');
    for (const bytes of [1024, 2048]) await deploy(project, bytes);
    expect(await read(owner, pageOf(project))).toContain('keep 3 KiB of 1 GiB');
    expect(await read(owner, '/dashboard/account')).toMatch(/Stored files\s+3 KiB of 1 GiB/);
    const remove = (number: number, { visitor } = owner) =>
      visitor.post(`${pageOf(project)}/deploys/${String(number)}/delete`, {
        once: new UuidIds().next('form'),
      });
    const served = await remove(2);
    expect(served.status).toBe(422);
    expect(textOf(served.text)).toContain('Deploy 2 is served');
    expect((await remove(1, await dashboard.newOwner())).status).toBe(404);
    const { location = '' } = await remove(1);
    const text = await read(owner, location);
    expect(text).toContain('The deploy was deleted.');
    expect(text).toContain('keep 2 KiB of 1 GiB');
    expect((await remove(1)).status).toBe(404);
  });
});

describe('the audit log', () => {
  let keyId: string;
  beforeAll(async () => {
    const { container } = dashboard;
    const [access, catalogue] = [container.get(AccessKey), container.get(CatalogueKey)];
    keyId = (await access.listApiKeys(owner.accountId))[0]?.id ?? '';
    await container.get(Acting).run(`key:${keyId}`, async () => {
      for (let i = 0; i < 120; i++) {
        await catalogue.createPet(owner.accountId, {
          name: 'Rex',
          categoryId: 7n,
          status: 'available',
        });
      }
    });
    const { person } = await access.invite(owner.accountId, 'keeper@zoo.example');
    await container
      .get(Acting)
      .run('person:keeper@zoo.example', () => access.rotateApiKey(keyId, '24h'));
    await access.dismiss(owner.accountId, person.id);
  });

  const logAt = async (query: string) => {
    const { text } = await owner.visitor.get(`/dashboard/account/audit${query}`);
    const log = text.slice(text.indexOf('<h1>Audit log'));
    return {
      log,
      what: elementsIn(log, 'summary').map((one) => one.text),
      next: elementsIn(log, 'a').find(({ attributes }) => attributes['rel'] === 'next')?.attributes[
        'href'
      ],
    };
  };

  test("every entry shows its exact time, which scripts show in the browser's zone", async () => {
    const { log } = await logAt('');
    expect(elementsIn(log, 'th').map((one) => one.text)).toEqual(['Time', 'Who', 'What']);
    const [time] = elementsIn(log, 'time');
    expect(time).toMatchObject({
      text: '2026-03-01 16:19:05 UTC',
      attributes: { 'data-local': 'exact', title: '2026-03-01 16:19:05 UTC' },
    });
  });

  test('entries are found by their subject', async () => {
    const { what } = await logAt('?what=keys');
    expect(what).toEqual([
      'Rotated the API key First key; the old secret is valid until 2026-03-02 16:19 UTC',
      'Created the API key First key',
    ]);
  });

  test('entries can be filtered by person, even a removed one, and by person and topic together', async () => {
    const who = encodeURIComponent('person:keeper@zoo.example');
    const { what, log } = await logAt(`?who=${who}`);
    expect(what).toEqual([expect.stringContaining('Rotated the API key')]);
    const chosen = elementsIn(log, 'option').filter(({ attributes }) => 'selected' in attributes);
    expect(chosen.map((one) => one.text)).toEqual(['keeper@zoo.example', 'Everything']);
    const everybody = await logAt('');
    const actors = elementsIn(everybody.log, 'option').map((one) => one.text);
    expect(actors).toEqual(
      expect.arrayContaining([owner.email, 'keeper@zoo.example', 'API key First key']),
    );
    expect((await logAt(`?who=${who}&what=animals`)).what).toEqual([]);
    expect((await logAt(`?who=${who}&what=animals`)).log).toContain('No entries match this filter');
  });

  test('older entries of the same kind are on later pages, each of them once', async () => {
    const seen: string[] = [];
    let query = `?what=animals&who=${encodeURIComponent(`key:${keyId}`)}`;
    for (let page = 0; page < 3; page++) {
      const { what, next } = await logAt(query);
      seen.push(...what);
      if (page < 2) expect(next).toMatch(/^\/dashboard\/account\/audit\?/);
      query = new URL(next ?? '', dashboard.origin).search;
    }
    expect(seen).toHaveLength(120);
    expect(new Set(seen).size).toBe(120);
  });

  test('entries are found by a range of days, including the first and the last', async () => {
    expect((await logAt('?from=2026-03-01&to=2026-03-01&what=keys')).what).toHaveLength(2);
    expect((await logAt('?from=2026-03-02')).what).toEqual([]);
    expect((await logAt('?to=2026-02-28')).log).toContain('No entries match this filter');
  });

  test('all matching entries of this account, and no others, are downloaded as CSV', async () => {
    const { text, headers } = await owner.visitor.get('/dashboard/account/audit.csv?what=animals');
    expect(headers.get('Content-Disposition')).toBe('attachment; filename="audit-log.csv"');
    const [head, ...lines] = text.trim().split('\r\n');
    expect(head).toBe('time,who,what,event,details');
    expect(lines).toHaveLength(120);
    expect(lines[0]).toMatch(
      /^2026-03-01T16:19:05\.000Z,API key First key,Added animal \d+,pet_added,"{""petId"":""\d+""}"$/,
    );
    const other = await dashboard.newOwner();
    const theirs = await other.visitor.get('/dashboard/account/audit.csv');
    expect(theirs.text).not.toContain('pet_added');
  });

  test.each([
    '?from=yesterday',
    '?to=2026-02-31x',
    '?from=9999-99-99',
    '?what=nonsense',
    '?what=constructor',
    '?before=yesterday',
    '?who=',
  ])('invalid filters are ignored: %s', async (query) => {
    expect((await logAt(query)).what).toHaveLength(50);
  });
});

describe('a key', () => {
  let keyId: string;
  beforeAll(async () => {
    owner = await dashboard.newOwner();
    const access = dashboard.container.get(AccessKey);
    keyId = (await access.listApiKeys(owner.accountId))[0]?.id ?? '';
  });

  const rotate = (overlap: '1h' | '24h') =>
    dashboard.container.get(AccessKey).rotateApiKey(keyId, overlap);
  const page = async () => textOf((await owner.visitor.get('/dashboard/keys')).text);

  test('a key shows the end of its old secret while that secret is valid', async () => {
    expect(await page()).not.toContain('old secret valid');
    await rotate('24h');
    expect(await page()).toContain('old secret valid until 2026-03-02 16:19 UTC');
    await rotate('1h');
    expect(await page()).toContain('old secret valid until 17:19 UTC');
    dashboard.clock.advance(3_600_000);
    expect(await page()).not.toContain('old secret valid');
  });

  test('the notice contains its end time, so that an open page can remove it', async () => {
    await rotate('1h');
    const { text } = await owner.visitor.get('/dashboard/keys');
    expect(text).toContain('data-until="2026-03-01T18:19:05.000Z"');
  });

  test('a banned key says until when it is banned, and the ban can be lifted', async () => {
    const { clock, container } = dashboard;
    await container.get(ApiKeys).change(keyId, (key) => banApiKey(key, clock.now()));
    const banned = await owner.visitor.get('/dashboard/keys');
    expect(banned.text).toMatch(/banned until <time [^>]*data-local="minute">\d\d:\d\d UTC</);
    const { location = '' } = await owner.visitor.post(`/dashboard/keys/${keyId}/lift-ban`);
    const { text } = await owner.visitor.get(location);
    expect(textOf(text)).toContain('The ban is lifted.');
    expect(textOf(text)).not.toContain('banned until');
  });

  test('a revoked key shows no valid old secret', async () => {
    await rotate('1h');
    await dashboard.container.get(AccessKey).revokeApiKey(keyId);
    expect(await page()).not.toContain('old secret valid');
  });
});

describe('webhooks', () => {
  let webhook: Webhook;
  let path: string;
  let messages = 0;
  beforeEach(async () => {
    owner = await dashboard.newOwner();
    ({ webhook } = await calls().addWebhook(owner.accountId, draft));
    path = `/dashboard/webhooks/${webhook.id}`;
  });
  const draft = { address: 'https://hooks.zoo.test/in', kinds: ownersKinds };
  const calls = () => dashboard.container.get(WebhookCallsKey);
  const of = () => ({ accountId: owner.accountId, webhookId: webhook.id });
  const page = async (at = path): Promise<string> => (await owner.visitor.get(at)).text;
  const ping = () => addPing(dashboard, webhook, `evt_webhooks_test_page_${(messages += 1)}`);
  const wordsIn = (text: string): string =>
    elementsIn(text, 'main')
      .map((main) => main.text)
      .join(' ')
      .replace(/\s+/g, ' ');

  test('a form whose webhook was removed meanwhile gets an explanation', async () => {
    await calls().removeWebhook(of());
    const once = 'form_0123456789';
    const forms = {
      test: {},
      on: {},
      off: {},
      remove: { once },
      'deliveries/dlv_1/again': {},
      rotate: { overlap: '1h', once },
      change: { address: draft.address, kinds: 'domain.live' },
    };
    for (const [form, fields] of Object.entries(forms)) {
      const { status, text } = await owner.visitor.post(`${path}/${form}`, fields);
      expect([form, status]).toEqual([form, 404]);
      expect(wordsIn(text)).toContain(
        'This webhook was removed, or it belongs to another account.',
      );
    }
  });

  test('a delivery that is no longer kept cannot be sent again, and the page says why', async () => {
    const { status, text } = await owner.visitor.post(`${path}/deliveries/dlv_none/again`);
    expect(status).toBe(404);
    expect(wordsIn(text)).toContain('This delivery is gone: deliveries are kept for 30 days.');
  });

  test('a webhook that was switched off in another tab is not tested, and the page says why', async () => {
    await calls().switchWebhookOff(of());
    const { status, text } = await owner.visitor.post(`${path}/test`);
    expect(status).toBe(422);
    expect(
      elementsIn(text, 'p').find(({ attributes }) => attributes['role'] === 'alert')?.text,
    ).toBe('This webhook is switched off. Switch it on first.');
  });

  test('each delivery shows its state, its last result and its next attempt', async () => {
    await ping();
    expect(wordsIn(await page())).toContain('test.ping sending just now · No attempt yet.');
    await attemptAll(dashboard, answered(503, 'busy'));
    expect(wordsIn(await page())).toMatch(
      /Failing: the last attempt was just now ?\. If attempts fail for 5 more days, we switch it off and notify you\./,
    );
    const later = new Date(dashboard.clock.now().getTime() + 10_000);
    expect(wordsIn(await page())).toMatch(
      /test\.ping trying again just now · 503 in 1,204 ms · 1 attempt\. The next one follows within a minute\. .*Send again/,
    );
    await attemptAll(dashboard, answered(503, 'still busy'), later);
    expect(wordsIn(await page())).toMatch(
      /2 attempts\. The next one is at [\d -]*\d\d:\d\d UTC ?\./,
    );
    const last = new Date(later.getTime() + 600_000);
    await attemptAll(dashboard, answered(200, 'thanks'), last);
    const text = wordsIn(await page());
    expect(text).toMatch(/test\.ping delivered just now · 200 in 38 ms · 3 attempts\./);
    expect(text).toContain('thanks');
    expect(text).toContain('busy');
  });

  test("a receiver's answer is shown unchanged, with symbols for invisible characters", async () => {
    await ping();
    await attemptAll(dashboard, answered(500, 'a\0b\x1b[31m\r\n\u202ec\u0085 </pre><b>d</b>'));
    const [answer] = elementsIn(await page(), 'pre').filter(
      ({ attributes }) => attributes['aria-label'] === 'Beginning of the answer',
    );
    expect(answer?.text).toBe('a\u2400b\u241b[31m \ufffdc\ufffd </pre><b>d</b>');
  });

  test('a page of twenty deliveries with the longest answers is smaller than 200 KiB, and links to the others', async () => {
    for (let n = 0; n < 20; n++) await ping();
    let at = dashboard.clock.now();
    for (let n = 0; n < 6; n++) {
      await attemptAll(dashboard, answered(500, '<'.repeat(1024)), at);
      at = new Date(at.getTime() + 24 * 60 * 60_000);
    }
    const whole = await page();
    expect(Buffer.byteLength(whole)).toBeLessThan(200 * 1024);
    const links = elementsIn(whole, 'a').filter(({ text }) => text === 'Message and answers');
    expect(links.length).toBeGreaterThan(10);
    const [href = ''] = [links[0]?.attributes['href']?.replace('#deliveries', '')];
    const next = await page(href);
    expect(elementsIn(next, 'summary')[0]?.text).toMatch(/^test\.ping cancelled/);
    const first = (text: string) =>
      /<ol class="deliveries">\s*<li id="([^"]+)"/.exec(text)?.[1] ?? '';
    expect(first(next)).not.toBe(first(whole));
    expect(whole).toContain(`<li id="${first(next)}"`);
  });

  test('older deliveries are on later pages', async () => {
    for (let n = 0; n < 23; n++) await ping();
    const text = await page();
    expect(elementsIn(text, 'code').filter((one) => one.text === 'test.ping')).toHaveLength(20);
    const older = elementsIn(text, 'a').find((one) => one.text === 'Older deliveries');
    const rest = await page(older?.attributes['href']?.replace('#deliveries', ''));
    expect(elementsIn(rest, 'code').filter((one) => one.text === 'test.ping')).toHaveLength(3);
    expect(wordsIn(rest)).toContain('Back to the newest deliveries');
  });

  test('an open page shows new deliveries automatically', async () => {
    const stream = await DashboardStream.open(owner.visitor, path);
    await stream.shows('Nothing was sent yet');
    await ping();
    await attemptAll(dashboard, answered(200, 'thanks'));
    await stream.shows('>delivered<');
    stream.close();
  });

  test('a page that shows a secret once does not update itself, so the secret stays visible', async () => {
    const once = /name="once" value="([^"]+)"/.exec(await page())?.[1] ?? '';
    const { status, text } = await owner.visitor.post(`${path}/rotate`, { overlap: '0', once });
    expect(status).toBe(200);
    expect(text).toContain('whsec_');
    expect(elementsIn(text, 'main')[0]?.attributes['data-live']).toBeUndefined();
    expect(elementsIn(await page(), 'main')[0]?.attributes['data-live']).toBe(path);
  });

  test('an account has at most ten webhooks, and the page says so', async () => {
    for (let n = 1; n < mostWebhooks; n++) await calls().addWebhook(owner.accountId, draft);
    expect(wordsIn(await page('/dashboard/webhooks'))).toContain(
      'You have 10 webhooks, the maximum for an account.',
    );
    const fields = { ...draft, kinds: 'domain.live', once: 'form_9876543210' };
    const { status, text } = await owner.visitor.post('/dashboard/webhooks', fields);
    expect(status).toBe(422);
    expect(wordsIn(text)).toContain('An account can have 10 webhooks. Remove one first.');
  });
});

describe('each page of the account', () => {
  const paths = [
    '/dashboard',
    '/dashboard/projects/parrots',
    '/dashboard/projects/parrots/settings/domains',
    ...['animals', 'orders', 'keys', 'webhooks', 'usage', 'account', 'notices'].map(
      (one) => `/dashboard/${one}`,
    ),
  ];
  let owner: Owner;
  beforeAll(async () => {
    owner = await dashboard.newOwner();
  });

  test.each(['empty', 'used'])('skips no heading level when the account is %s', async (state) => {
    const { visitor, accountId } = owner;
    if (state === 'used')
      await dashboard.container.get(SitesKey).startProject(accountId, 'Parrots');
    for (const path of paths) {
      const { status, text } = await visitor.get(path);
      if (status === 404) continue;
      const levels = [...text.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
      const skipped = levels.filter((level, at) => level > (levels[at - 1] ?? 0) + 1);
      expect([path, skipped]).toEqual([path, []]);
    }
  });

  test('shows no command that only an operator could run', async () => {
    for (const path of paths) {
      const { text } = await owner.visitor.get(path);
      expect([path, /animal-store [a-z]+/.exec(text)]).toEqual([path, null]);
    }
  });

  test('does not claim that an animal added as sold has an order', async () => {
    const draft = { name: 'Rex', categoryId: '7', status: 'sold', once: 'only-in-this-test' };
    const { location = '' } = await owner.visitor.post('/dashboard/animals', draft);
    const [list, orders] = [location, '/dashboard/orders'].map((path) => owner.visitor.get(path));
    expect(textOf((await list!).text)).toContain('An animal that is added as sold has no order.');
    expect(textOf((await orders!).text)).toContain('No orders yet');
  });
});
