import { expect, test } from '@jest/globals';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { mainWays, says } from '../support/dashboard/main-ways.ts';

const browsed = browseDashboard(() => Promise.resolve());

test.each(Object.entries(mainWays))('without scripts, %s', async (_, walk) => {
  const { dashboard, owner } = browsed;
  const visit = (path: string, cookie = owner.visitor.cookie) =>
    browsed.visit(path, { javaScript: false, cookie: cookie === '' ? undefined : cookie });
  await walk({ dashboard, owner, visit, hasScripts: false });
});

test('no key is named that only scripts listen to', async () => {
  const page = await browsed.visit('/dashboard', { javaScript: false });
  await page.css('header [data-search]').isShown();
  expect(await page.css('header kbd').isVisible()).toBe(false);
});

test('a secret is not shown again after a reload', async () => {
  const page = await browsed.visit('/dashboard/keys', { javaScript: false });
  await page.label('Key name').fill('Kiosk');
  await page.role('button', 'Create key').click();
  await page.words('It is not shown again').isShown();
  await page.raw.reload();
  await says(page, /^This was already done/);
  expect(await page.raw.content()).not.toMatch(/pets_live_\w{38}/);
});
