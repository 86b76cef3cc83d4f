import { expect, test } from '@jest/globals';
import type { TestPage } from '../support/dashboard/page.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { fill } from '../support/dashboard/filling.ts';

let project: string;
const browsed = browseDashboard(async ({ dashboard, owner }) => {
  project = `/dashboard/projects/${await fill(dashboard, owner, 'birds.test')}`;
});

/** What has the focus, as a screen reader names it, more or less. */
const focused = (page: TestPage): Promise<string> =>
  page.evaluate(`(({ ariaLabel, innerText, labels, tagName }) =>
    (ariaLabel ?? labels?.[0]?.innerText ?? innerText ?? tagName).trim())(document.activeElement)`);

/** @returns how often the Tab key had to be pressed */
const tabTo = async (page: TestPage, name: string): Promise<number> => {
  for (let times = 1; times <= 150; times++) {
    await page.press('Tab');
    if ((await focused(page)) === name) return times;
  }
  throw new Error(`Tab does not lead to ${name}`);
};

test('the first link on a page skips the navigation', async () => {
  const page = await browsed.visit('/dashboard');
  await page.press('Tab');
  expect(await focused(page)).toBe('Skip to content');
  await page.css('.skip').isShown();
  await page.press('Enter');
  await page.press('Tab');
  expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true);
});

test('the keyboard reaches every section, and the current one is marked', async () => {
  const page = await browsed.visit('/dashboard');
  for (const name of ['Animals', 'API keys', 'Usage', 'Account', 'Projects']) {
    await tabTo(page, name);
    await page.press('Enter');
    const current = page.role('navigation', 'Main').css('[aria-current=page]');
    await current.exactly(name).isShown();
  }
});

test('a domain can be removed with the keyboard', async () => {
  const page = await browsed.visit(`${project}/settings/domains`);
  const item = page.role('menuitem', 'Remove');
  const focusedItem = page.css('[role=menuitem]:focus');
  await tabTo(page, 'Actions for shop.birds.test');
  await page.press('Enter');
  await focusedItem.isShown();
  await page.press('Escape');
  await item.isGone();
  expect(await focused(page)).toBe('Actions for shop.birds.test');
  await page.press('Enter');
  await focusedItem.isShown();
  await page.press('End');
  await page.press('Enter');
  await page.isAt('/shop.birds.test/remove');
  await tabTo(page, 'Remove domain');
  await page.press('Enter');
  await page.role('status').words('shop.birds.test is removed').isShown();
});

test('the focus is always visible', async () => {
  const page = await browsed.visit(`${project}/settings/domains`);
  const seen: string[] = [];
  for (;;) {
    await page.press('Tab');
    if (await page.evaluate('document.activeElement === document.body')) break;
    const look = await page.evaluate<readonly [outline: string, shadow: string]>(
      '(({ outlineStyle, boxShadow }) => [outlineStyle, boxShadow])(getComputedStyle(document.activeElement))',
    );
    const name = await focused(page);
    expect([name, look]).not.toEqual([name, ['none', 'none']]);
    seen.push(name);
  }
  expect(seen.length).toBeGreaterThan(30);
  expect(seen).toEqual(
    expect.arrayContaining(['Add domain', 'Verify', 'Add redirect', 'Import a configuration']),
  );
});
