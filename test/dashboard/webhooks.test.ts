import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { WebhookCallsKey } from '../../src/app/keys.ts';
import { ownersKinds } from '../../src/notifications/domain/kinds.ts';
import { mostWebhooks, type Webhook } from '../../src/notifications/domain/webhooks/webhook.ts';
import { elementsIn } from '../support/dashboard/markup.ts';
import { DashboardStream } from '../support/dashboard/stream.ts';
import { addPing, answered, attemptAll } from '../support/dashboard/webhooks.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';

let dashboard: RunningDashboard;
let owner: Owner;
let webhook: Webhook;
let path: string;
let messages = 0;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard.close());
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

test('a form of a page that is still open after the webhook was removed is answered in plain words', async () => {
  await calls().removeWebhook(of());
  const once = 'form_0123456789';
  const forms = {
    ...{ test: {}, on: {}, off: {}, remove: {}, 'deliveries/dlv_1/again': {} },
    rotate: { overlap: '1h', once },
    change: { address: draft.address, kinds: 'domain.live' },
  };
  for (const [form, fields] of Object.entries(forms)) {
    const { status, text } = await owner.visitor.post(`${path}/${form}`, fields);
    expect([form, status]).toEqual([form, 404]);
    expect(wordsIn(text)).toContain('This webhook was removed, or it belongs to another account.');
  }
});

test('a delivery that is no longer kept cannot be sent again, and the page says why', async () => {
  const { status, text } = await owner.visitor.post(`${path}/deliveries/dlv_none/again`);
  expect(status).toBe(404);
  expect(wordsIn(text)).toContain('This delivery is gone: deliveries are kept for 30 days.');
});

test('a webhook that was switched off in another tab is not tried, and the page says why', async () => {
  await calls().switchWebhookOff(of());
  const { status, text } = await owner.visitor.post(`${path}/test`);
  expect(status).toBe(422);
  expect(elementsIn(text, 'p').find(({ attributes }) => attributes['role'] === 'alert')?.text).toBe(
    'This webhook is switched off. Switch it on first.',
  );
});

test('the page of an unknown webhook is like that of any unknown page', async () => {
  const nowhere = await owner.visitor.get('/dashboard/nowhere');
  for (const id of ['hook_none', '%00', '..%2Fkeys', 'a'.repeat(500)]) {
    const { status, text } = await owner.visitor.get(`/dashboard/webhooks/${id}`);
    expect([id, status]).toEqual([id, 404]);
    expect(wordsIn(text)).toBe(wordsIn(nowhere.text));
  }
});

test('each delivery shows its state, its last result, and when it is tried next', async () => {
  await ping();
  expect(wordsIn(await page())).toContain('test.ping sending just now No attempt yet.');
  await attemptAll(dashboard, answered(503, 'busy'));
  expect(wordsIn(await page())).toMatch(
    /Failing: the last attempt was just now ?\. If attempts fail for 5 more days, we switch it off and tell you\./,
  );
  const later = new Date(dashboard.clock.now().getTime() + 10_000);
  expect(wordsIn(await page())).toMatch(
    /test\.ping trying again just now Send again 503 1,204 ms 1 attempt\. The next one follows within a minute\./,
  );
  await attemptAll(dashboard, answered(503, 'still busy'), later);
  expect(wordsIn(await page())).toMatch(/2 attempts\. The next one is at [\d -]*\d\d:\d\d UTC ?\./);
  const last = new Date(later.getTime() + 600_000);
  await attemptAll(dashboard, answered(200, 'thanks'), last);
  const text = wordsIn(await page());
  expect(text).toMatch(/test\.ping delivered just now Send again 200 38 ms 3 attempts\. Message/);
  expect(text).toContain('thanks');
  expect(text).toContain('busy');
});

test('what a receiver answered is shown as it came, with signs for what nobody can see', async () => {
  await ping();
  await attemptAll(dashboard, answered(500, 'a\0b\x1b[31m\r\n\u202ec\u0085 </pre><b>d</b>'));
  const [answer] = elementsIn(await page(), 'pre').filter(
    ({ attributes }) => attributes['aria-label'] === 'Beginning of the answer',
  );
  expect(answer?.text).toBe('a\u2400b\u241b[31m \ufffdc\ufffd </pre><b>d</b>');
});

test('a page of twenty deliveries with the longest answers is less than 200 KiB, and leads to the others', async () => {
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
  expect(elementsIn(next, 'summary')[0]?.text).toBe('Message and answers');
  const first = (text: string) =>
    /<ol class="deliveries">\s*<li id="([^"]+)"/.exec(text)?.[1] ?? '';
  expect(first(next)).not.toBe(first(whole));
  expect(whole).toContain(`<li id="${first(next)}"`);
});

test('older deliveries are on further pages', async () => {
  for (let n = 0; n < 23; n++) await ping();
  const text = await page();
  expect(elementsIn(text, 'code').filter((one) => one.text === 'test.ping')).toHaveLength(20);
  const older = elementsIn(text, 'a').find((one) => one.text === 'Older deliveries');
  const rest = await page(older?.attributes['href']?.replace('#deliveries', ''));
  expect(elementsIn(rest, 'code').filter((one) => one.text === 'test.ping')).toHaveLength(3);
  expect(wordsIn(rest)).toContain('Back to the newest deliveries');
});

test('a page that is open shows new deliveries by itself', async () => {
  const stream = await DashboardStream.open(owner.visitor, path);
  await stream.shows('Nothing was sent yet');
  await ping();
  await attemptAll(dashboard, answered(200, 'thanks'));
  await stream.shows('>delivered<');
  stream.close();
});

test('a secret that is shown once stays on the page: it is not live', async () => {
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
    'You have 10 webhooks, which is the most that an account can have.',
  );
  const fields = { ...draft, kinds: 'domain.live', once: 'form_9876543210' };
  const { status, text } = await owner.visitor.post('/dashboard/webhooks', fields);
  expect(status).toBe(422);
  expect(wordsIn(text)).toContain('An account can have 10 webhooks. Remove one first.');
});
