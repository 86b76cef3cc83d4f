import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { mailedLinkPath, newPasswordPath } from '../../src/adapters/dashboard/frame/next-page.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { until } from '../support/until.ts';
import { zipOf } from '../support/sites/zip-bytes.ts';

const browsed = browseDashboard(() => Promise.resolve(), {
  settings: { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'store@zoo.example' },
});

const visit = (path: string): Promise<Page> => browsed.visit(path, { javaScript: false });

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

const says = async (page: Page, text: string | RegExp): Promise<void> => {
  await page.getByRole('status').getByText(text).waitFor();
};

test('a site is published, and an older deploy is served again and a deploy deleted', async () => {
  const page = await visit('/dashboard');
  await page.getByLabel('Project name', { exact: true }).fill('Birds');
  await press(page, 'New project');
  await says(page, 'Project created.');
  expect(new URL(page.url()).pathname).toBe('/dashboard/projects/birds');

  const publish = async (name: string) => {
    const buffer = zipOf([{ name }]);
    const file = { name: 'site.zip', mimeType: 'application/zip', buffer };
    await page.getByLabel('Site archive', { exact: true }).setInputFiles(file);
    await press(page, 'Deploy');
  };
  await publish('index.html');
  await says(page, 'The deploy succeeded.');
  await publish('index.html');
  await press(page, 'Use this deploy');
  await says(page, /the deploy that you chose/);
  await page.getByText('Visitors get deploy 1 at').waitFor();
  await press(page, 'Delete');
  await press(page, 'Keep');
  await press(page, 'Delete');
  await press(page, 'Delete deploy');
  await says(page, 'The deploy was deleted.');
  await publish('about.html');
  await page.getByRole('alert').getByText('Deploy 3 failed.').waitFor();
  await page.getByRole('cell').getByText('It has no index.html at its top.').waitFor();
});

test('a domain is added, viewed and removed', async () => {
  const page = await visit('/dashboard/projects/birds/settings/domains');
  await page.getByLabel('Domain', { exact: true }).fill('localhost');
  await press(page, 'Add domain');
  const refused = page.locator('input[aria-invalid]');
  expect(await refused.inputValue()).toBe('localhost');
  await refused.fill('www.birds.test');
  await page.getByRole('checkbox', { name: /^Also add/ }).uncheck();
  await press(page, 'Add domain');
  await says(page, /^Added\./);
  expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
  await press(page, 'Verify');
  await page.getByRole('heading', { name: 'Records to create for www.birds.test' }).waitFor();
  await page.getByRole('status').getByRole('link', { name: 'See what to change' }).click();
  await page.getByRole('heading', { name: 'Problems' }).waitFor();
  browsed.dashboard.clock.advance(10_000);
  await page.goBack();
  await page.getByRole('link', { name: 'www.birds.test', exact: true }).click();
  await press(page, 'Verify');
  await page.getByRole('heading', { name: 'Problems' }).waitFor();

  await press(page, 'Create link');
  const link = (await page.locator('.secret pre').textContent()) ?? '';
  await page.getByRole('link', { name: 'I have sent it' }).click();
  const shared = await browsed.visit(new URL(link).pathname, {
    ...{ javaScript: false, cookie: undefined },
  });
  await shared.getByRole('heading', { name: 'www.birds.test' }).first().waitFor();
  await press(page, 'Revoke');
  await says(page, 'The link is revoked.');
  await shared.reload();
  await shared.getByText('no longer works').waitFor();

  await press(page, 'Actions for www.birds.test');
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await press(page, 'Remove domain');
  await page.getByRole('row', { name: /www\.birds\.test removed/ }).waitFor();
});

test('a name and its www name are added in one step, both or neither', async () => {
  const path = '/dashboard/projects/birds/settings/domains';
  const page = await visit(path);
  const other = page.getByRole('checkbox', {
    name: 'Also add www.example.com for example.com, or the other way round, and redirect it to this one',
    exact: true,
  });
  expect(await other.isChecked()).toBe(true);
  await page.getByLabel('Domain', { exact: true }).fill('parrots.test');
  await press(page, 'Add domain');
  await says(page, /^Added\./);
  const both = 'Records to create for parrots.test and www.parrots.test';
  const card = page.getByRole('region', { name: both, exact: true });
  for (const name of ['parrots.test', 'www.parrots.test']) {
    await card.getByRole('heading', { name, exact: true }).waitFor();
  }
  const zone = (await card.locator('pre').textContent()) ?? '';
  expect(zone.match(/^\S+/gm)?.filter((name) => !name.startsWith('_'))).toEqual([
    ...['$ORIGIN', ';', 'www'],
  ]);
  await page
    .getByRole('row', { name: /^www\.parrots\.test parrots\.test 308 suspended/ })
    .getByText('Starts when parrots.test and www.parrots.test are live.')
    .waitFor();

  await page.getByLabel('Domain', { exact: true }).fill('www.parrots.test');
  await press(page, 'Add domain');
  const refused = page.locator('input[aria-invalid]');
  expect(await refused.inputValue()).toBe('www.parrots.test');
  await page.getByText('www.parrots.test is in the list of this project already.').waitFor();
  expect(await other.isChecked()).toBe(true);
  await other.uncheck();
  await press(page, 'Add domain');
  expect(await other.isChecked()).toBe(false);
});

test('a key is made, shown once, rotated and revoked', async () => {
  const page = await visit('/dashboard/keys');
  await page.getByLabel('Key name', { exact: true }).fill('Till');
  await press(page, 'Create key');
  const first = await shownKey(page);
  expect(await answerTo(first)).toBe(200);
  await page.goto(`${browsed.dashboard.origin}/dashboard/keys`);
  expect(await page.content()).not.toContain(first);
  const row = page.getByRole('row', { name: 'Till' });
  await row.getByRole('combobox').selectOption('0');
  await row.getByRole('button', { name: 'Rotate' }).click();
  const second = await shownKey(page);
  expect([await answerTo(first), await answerTo(second)]).toEqual([401, 200]);
  await row.getByRole('button', { name: 'Revoke', exact: true }).click();
  expect(await answerTo(second)).toBe(200);
  await press(page, 'Revoke key');
  await says(page, 'The key is revoked.');
  expect(await answerTo(second)).toBe(401);
});

test('a key that goes on calling beyond its limit is banned, until the ban is lifted', async () => {
  const page = await visit('/dashboard/keys');
  await page.getByLabel('Key name', { exact: true }).fill('Loop');
  await press(page, 'Create key');
  const key = await shownKey(page);
  const callOften = () => Promise.all(Array.from({ length: 50 }, () => refusalOf(key)));
  const isBanned = async () => (await callOften()).some((answer) => answer.includes('banned'));
  await until('it is banned', isBanned);
  await page.goto(`${browsed.dashboard.origin}/dashboard/keys`);
  const row = page.getByRole('row', { name: 'Loop' });
  await row.getByText(/^banned until/).waitFor();
  // The limit is a new one, the ban is the same.
  browsed.dashboard.clock.advance(60_000);
  expect(await refusalOf(key)).toContain('banned');
  await row.getByRole('button', { name: 'Lift ban', exact: true }).click();
  await says(page, /ban/i);
  expect(await row.getByText(/^banned until/).count()).toBe(0);
  expect(await answerTo(key)).toBe(200);
});

const refusalOf = async (key: string): Promise<string> => {
  const headers = { Authorization: `Bearer ${key}` };
  return (await fetch(`${browsed.dashboard.origin}/v1/pets`, { headers })).text();
};

const shownKey = async (page: Page): Promise<string> => {
  const text = await page
    .getByRole('region')
    .filter({ hasText: 'It is not shown again' })
    .innerText();
  return /pets_live_\w{38}/.exec(text)?.[0] ?? '';
};

const answerTo = async (key: string): Promise<number> => {
  const headers = { Authorization: `Bearer ${key}` };
  return (await fetch(`${browsed.dashboard.origin}/v1/pets`, { headers })).status;
};

test('a webhook is added, tried, changed, rotated, switched off and on, and removed', async () => {
  const page = await visit('/dashboard/webhooks');
  const address = page.getByLabel('Address', { exact: true });
  await address.fill('https://169.254.169.254/latest');
  await press(page, 'Add webhook');
  await page.getByText('This is no public address.').waitFor();
  expect(await address.inputValue()).toBe('https://169.254.169.254/latest');
  await address.fill('https://hooks.birds.test/in');
  for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
  await press(page, 'Add webhook');
  await page.getByText('Choose at least one kind.').waitFor();
  await page.getByRole('checkbox', { name: /^domain\.live/ }).check();
  await press(page, 'Add webhook');
  const first = await shownWebhookSecret(page);
  await page.getByRole('link', { name: 'I have stored it' }).click();
  expect(await page.content()).not.toContain(first);
  await page.getByText('Called for 1\u00a0kind').waitFor();
  await press(page, 'Send a test');
  await says(page, /^A test is on its way\./);

  await page.getByText('Change its address or kinds').click();
  await page.getByRole('checkbox', { name: /^key\.banned/ }).check();
  await press(page, 'Save changes');
  await says(page, 'The webhook is changed.');
  await page.getByText('Called for 2\u00a0kinds').waitFor();
  await page.getByLabel('Keep old secret for', { exact: true }).selectOption('1h');
  await press(page, 'Rotate secret');
  expect(await shownWebhookSecret(page)).not.toBe(first);
  await page.reload();
  await says(page, /^This was already done/);
  await page.getByText('Messages are signed with the secret before this one too, until').waitFor();
  await press(page, 'Switch off');
  await says(page, /^The webhook is switched off\./);
  expect(await page.getByRole('button', { name: 'Send a test' }).count()).toBe(0);
  await press(page, 'Switch on');
  await says(page, 'The webhook is switched on.');
  await press(page, 'Remove');
  await press(page, 'Keep');
  await press(page, 'Remove');
  await press(page, 'Remove webhook');
  await says(page, /^The webhook is removed\./);
  await page.getByText('No webhooks yet').waitFor();
});

const shownWebhookSecret = async (page: Page): Promise<string> => {
  const shown = page.getByRole('region').filter({ hasText: 'It is not shown again' });
  const [secret = ''] = /whsec_[\w+/=]{44}/.exec(await shown.innerText()) ?? [];
  expect(secret).not.toBe('');
  return secret;
};

test('an animal is added, reserved, released and sold, and its order delivered', async () => {
  const page = await visit('/dashboard/animals');
  await page.getByLabel('Name', { exact: true }).fill('Rex');
  await page.getByLabel('Category id', { exact: true }).fill('9007199254740993');
  await press(page, 'Add animal');
  await page.getByRole('row', { name: /Rex 9007199254740993 available/ }).waitFor();
  await press(page, 'Reserve');
  await page.getByRole('row', { name: /Rex 9007199254740993 pending/ }).waitFor();
  await press(page, 'Release');
  await page.getByRole('row', { name: /Rex 9007199254740993 available/ }).waitFor();
  await press(page, 'Sell');
  await page.getByText('This creates an order and cannot be undone.').waitFor();
  await press(page, 'Sell animal');
  await page.getByRole('row', { name: /Rex 9007199254740993 sold/ }).waitFor();
  await page.getByRole('status').getByRole('link', { name: 'View its order' }).click();
  await page.waitForURL('**/dashboard/animals#orders');
  await page.getByRole('row', { name: /^1 Rex #1 1 .* placed Approve$/ }).waitFor();
  await press(page, 'Approve');
  await press(page, 'Deliver');
  await page.getByRole('row', { name: /delivered/ }).waitFor();
});

test('a password is chosen, and signs in', async () => {
  const page = await visit('/dashboard/account');
  await page.getByLabel('New password', { exact: true }).fill('seven quiet tortoises');
  await press(page, 'Save password');
  await says(page, 'The password is saved.');
  await press(page, 'Sign out');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Email', { exact: true }).fill(browsed.owner.email);
  await page.getByLabel('Password', { exact: true }).fill('seven quiet tortoises');
  await press(page, 'Sign in');
  await page.getByRole('heading', { name: 'Projects' }).waitFor();
});

test('a link to a new password, and one to sign in, are asked for and followed', async () => {
  const { email } = browsed.owner;
  const stranger = { javaScript: false, cookie: undefined };
  for (const path of ['/dashboard/forgot-password', '/dashboard/sign-in-link']) {
    const page = await browsed.visit(path, stranger);
    await page.getByLabel('Email', { exact: true }).fill(email);
    await press(page, 'Send the link');
    await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
  }
  const secret = (await browsed.dashboard.linkFor(email)).replace(/.*\//, '');
  const page = await browsed.visit(mailedLinkPath(secret, newPasswordPath), stranger);
  await press(page, 'Sign in');
  await page.getByLabel('New password', { exact: true }).fill('eight quiet tortoises');
  await press(page, 'Save password');
  await says(page, 'The password is saved.');
});
