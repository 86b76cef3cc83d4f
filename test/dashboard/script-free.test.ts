import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { until } from '../support/until.ts';
import { zipOf } from '../support/sites/zip-bytes.ts';

const browsed = browseDashboard(() => Promise.resolve());

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
  await press(page, 'Actions for www.birds.test');
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await press(page, 'Remove domain');
  await page.getByRole('row', { name: /www\.birds\.test removed/ }).waitFor();
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
