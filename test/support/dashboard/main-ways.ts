import { expect } from '@jest/globals';
import { stepOf } from '../../../src/access/domain/second-factor.ts';
import { timeCode } from '../../../src/adapters/system/system-ports.ts';
import { AccessKey } from '../../../src/app/keys.ts';
import { zipOf } from '../sites/archive-bytes.ts';
import type { BrowsedDashboard } from './dashboard-page.ts';
import type { TestPage } from './page.ts';

/** A visitor of a dashboard, in one of the browsers, with or without scripts. */
interface Walk extends Pick<BrowsedDashboard, 'dashboard' | 'owner'> {
  readonly visit: (path: string, cookie?: string) => Promise<TestPage>;
  readonly hasScripts: boolean;
}

const press = (page: TestPage, name: string): Promise<void> => page.role('button', name).click();

/** Leaves the page by a link that only this page has. */
const leave = async (page: TestPage, name: string): Promise<void> => {
  const link = page.role('link', name);
  await link.click();
  await link.isGone();
};

export const says = async (page: TestPage, text: string | RegExp): Promise<void> => {
  await page.role('status').words(text).isShown();
};

const shownKey = async (page: TestPage): Promise<string> => {
  const text = await page.role('region').has('It is not shown again').read();
  return /pets_live_\w{38}/.exec(text)?.[0] ?? '';
};

const answerTo = async (origin: string, key: string): Promise<number> => {
  const headers = { Authorization: `Bearer ${key}` };
  return (await fetch(`${origin}/v1/pets`, { headers })).status;
};

const shownWebhookSecret = async (page: TestPage): Promise<string> => {
  const shown = page.role('region').has('It is not shown again');
  const [secret = ''] = /whsec_[\w+/=]{44}/.exec(await shown.read()) ?? [];
  expect(secret).not.toBe('');
  return secret;
};

/** What owners do most, in order. Each must work in every browser, with scripts and without. */
export const mainWays: Readonly<Record<string, (walk: Walk) => Promise<void>>> = {
  'a site is published, an older deploy is served again, and a deploy is deleted': async ({
    visit,
  }) => {
    const page = await visit('/dashboard');
    await page.label('Project name').fill('Birds');
    await press(page, 'New project');
    await says(page, 'Project created.');
    await page.isAt(/\/dashboard\/projects\/birds(\?|$)/);

    const publish = async (name: string) => {
      await page.label('Site archive').upload(zipOf([{ name }]));
      await press(page, 'Deploy');
    };
    await publish('index.html');
    await says(page, 'The deploy succeeded.');
    await publish('index.html');
    await press(page, 'Use this deploy');
    await says(page, /the deploy that you chose/);
    await page.words('Visitors get deploy 1, made by').isShown();
    await page.role('link', 'Deploy 2').click();
    await page.role('link', 'Preview').isShown();
    await page.role('cell', 'index.html').isShown();
    await page.css('[popovertarget=delete]').click();
    await press(page, 'Keep');
    await page.css('[popovertarget=delete]').click();
    await page.css('.danger').click();
    await says(page, 'The deploy was deleted.');
    await publish('about.html');
    await page.role('alert').words('Deploy 3 failed.').isShown();
    await page.role('cell').words('It has no index.html at its top.').isShown();
  },

  'a domain is added, viewed and removed': async ({ dashboard, visit, hasScripts }) => {
    const page = await visit('/dashboard/projects/birds/settings/domains');
    await page.label('Domain').fill('localhost');
    await press(page, 'Add domain');
    const refused = page.css('input[aria-invalid]');
    expect(await refused.read('value')).toBe('localhost');
    await refused.fill('www.birds.test');
    await page.role('checkbox', /^Also add/).tick(false);
    await press(page, 'Add domain');
    await says(page, /^Added\./);
    const copy = page.role('button', 'Copy');
    if (hasScripts) await copy.isShown();
    else expect(await copy.count()).toBe(0);
    await press(page, 'Verify');
    await page.role('heading', 'Records to create for www.birds.test').isShown();
    await page.role('status').words('is not correct yet').isShown();
    await page.role('heading', 'Problems').isShown();
    dashboard.clock.advance(10_000);
    await page.role('link', 'Domains').click();
    await page.isAt('/settings/domains');
    await press(page, 'Verify');
    await page.role('link', 'See what to change').click();
    await page.role('heading', 'Problems').isShown();

    await page.role('heading', 'Ask whoever looks after your DNS').click();
    await press(page, 'Create link');
    const link = await page.css('.secret pre').read('textContent');
    await leave(page, 'I have sent it');
    const shared = await visit(new URL(link).pathname, '');
    await shared.role('heading', 'www.birds.test').isShown();
    await press(page, 'Revoke');
    await says(page, 'The link is revoked.');
    await shared.raw.reload();
    await shared.words('no longer works').isShown();

    await press(page, 'Actions for www.birds.test');
    await page.role('menuitem', 'Remove').click();
    await press(page, 'Remove domain');
    await says(page, /^The domain is removed/);
    await page.role('heading', 'Delete at your DNS provider').isShown();
  },

  'a key is created, shown once, rotated and revoked': async ({ dashboard, visit }) => {
    const page = await visit('/dashboard/keys');
    await page.label('Key name').fill('Till');
    await press(page, 'Create key');
    const first = await shownKey(page);
    expect(await answerTo(dashboard.origin, first)).toBe(200);
    await page.goto(`${dashboard.origin}/dashboard/keys`);
    expect(await page.raw.content()).not.toContain(first);
    const row = page.role('row').has('Till');
    await row.role('button', 'Actions for Till').click();
    await row.role('menuitem', 'Rotate').click();
    await row.role('combobox').choose('0');
    await press(page, 'Rotate key');
    const second = await shownKey(page);
    expect([
      await answerTo(dashboard.origin, first),
      await answerTo(dashboard.origin, second),
    ]).toEqual([401, 200]);
    await row.role('button', 'Actions for Till').click();
    await row.role('menuitem', 'Revoke').click();
    expect(await answerTo(dashboard.origin, second)).toBe(200);
    await press(page, 'Revoke key');
    await says(page, 'The key is revoked.');
    expect(await answerTo(dashboard.origin, second)).toBe(401);
  },

  'a webhook is added, tested, changed, rotated, switched off and on, and removed': async ({
    visit,
  }) => {
    const page = await visit('/dashboard/webhooks');
    const address = page.label('Address');
    await address.fill('https://169.254.169.254/latest');
    await press(page, 'Add webhook');
    await page.words('This is not a public address.').isShown();
    expect(await address.read('value')).toBe('https://169.254.169.254/latest');
    await address.fill('https://hooks.birds.test/in');
    await page.css('main input:checked').clickAll();
    await press(page, 'Add webhook');
    await page.words('Choose all events, or at least one kind.').isShown();
    await page.role('checkbox', /^domain\.live/).tick();
    await press(page, 'Add webhook');
    const first = await shownWebhookSecret(page);
    await leave(page, 'I have stored it');
    expect(await page.raw.content()).not.toContain(first);
    await page.words('Called for 1\u00a0kind').isShown();
    await press(page, 'Send a test');
    await says(page, /^A test is on its way\./);

    await page.words('Change its address or kinds').click();
    await page.role('checkbox', /^key\.banned/).tick();
    await press(page, 'Save changes');
    await says(page, 'The webhook is changed.');
    await page.words('Called for 2\u00a0kinds').isShown();
    await page.label('Keep old secret for').choose('1h');
    await press(page, 'Rotate secret');
    expect(await shownWebhookSecret(page)).not.toBe(first);
    await leave(page, 'I have stored it');
    await page.words('Messages are also signed with the previous secret, until').isShown();
    await press(page, 'Switch off');
    await says(page, /^The webhook is switched off\./);
    expect(await page.role('button', 'Send a test').count()).toBe(0);
    await press(page, 'Switch on');
    await says(page, 'The webhook is switched on.');
    await press(page, 'Remove');
    await press(page, 'Keep');
    await press(page, 'Remove');
    await press(page, 'Remove webhook');
    await says(page, /^The webhook is removed\./);
    await page.words('No webhooks yet').isShown();
  },

  'an animal is added, reserved, released and sold, and its order delivered': async ({ visit }) => {
    const page = await visit('/dashboard/animals');
    await page.label('Name').fill('Rex');
    await page.label('Category id').fill('9007199254740993');
    await press(page, 'Add animal');
    await page.role('row', /Rex #1 category 9007199254740993 available/).isShown();
    await page.role('link', 'Rex').click();
    await page.isAt('/dashboard/animals/1');
    await press(page, 'Reserve');
    await says(page, 'The animal is reserved.');
    await press(page, 'Release');
    await says(page, 'The animal is available again.');
    await press(page, 'Sell');
    await page.words('This creates an order and cannot be undone.').isShown();
    await press(page, 'Sell animal');
    await says(page, 'The animal is sold, and its order is placed.');
    await page.role('link', 'Order 1').click();
    await page.isAt('/dashboard/orders/1');
    await press(page, 'Approve');
    await page.role('link', 'Orders').click();
    await page.role('row', /^Order 1 Rex .* approved Deliver$/).isShown();
    await press(page, 'Deliver');
    await page.role('row', /delivered/).isShown();
  },

  'an authenticator app is set up and used, and passkeys are offered only at a host name': async ({
    dashboard,
    owner,
    visit,
  }) => {
    const page = await visit('/dashboard/me/second-factor');
    expect(await page.role('button', 'Add a passkey').count()).toBe(0);
    await page.role('link', /localhost/).isShown();
    await page.goto(`${dashboard.origin}/dashboard/me/second-factor/app`);
    const text = await page.css('main').read();
    const [secret = ''] = /(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}/.exec(text) ?? [];
    const enter = async (at: TestPage) => {
      dashboard.clock.advance(60_000);
      const code = timeCode(secret.replaceAll(' ', ''), stepOf(dashboard.clock.now()));
      await at.label(/code/i).fill(code);
      await at.css('main button.main').click();
    };
    await enter(page);
    await page.words('Your recovery codes').isShown();
    const again = await visit(await dashboard.linkFor(owner.email), '');
    await again.role('heading', 'Second factor').isShown();
    await enter(again);
    await again.role('heading', 'Projects').isShown();
  },

  'a viewer finds every page by the navigation and its menus, and sees no control': async ({
    dashboard,
    owner,
    visit,
  }) => {
    const email = 'viewer@zoo.example';
    await dashboard.container.get(AccessKey).invite(owner.accountId, email, 'viewer');
    const { cookie } = await dashboard.signIn(email);
    const page = await visit('/dashboard', cookie);
    for (const name of [
      'Animals',
      'Orders',
      'API keys',
      'Webhooks',
      'Usage',
      'Account',
      'Projects',
    ]) {
      await page.role('navigation', 'Main').role('link', name).click();
      await page.role('heading', name).isShown();
      await page.css('nav [aria-current=page]').exactly(name).isShown();
      expect(await page.css('main form[method=post]').count()).toBe(0);
    }
    await press(page, 'Your menu');
    await page.role('menuitem', 'Your profile').click();
    await page.role('heading', 'Your profile').isShown();
  },
};
