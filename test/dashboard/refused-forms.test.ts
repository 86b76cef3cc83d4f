import { expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import type { TestPage } from '../support/dashboard/page.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';

const wanted = 'seven quiet tortoises';
/** Of a session that needs the current password for a new one. */
let cookie: string | undefined;
const browsed = browseDashboard(async ({ dashboard, owner }) => {
  await owner.visitor.post('/dashboard/account/password', { wanted });
  const visitor = dashboard.stranger();
  await visitor.post('/dashboard/sign-in', { email: owner.email, password: wanted });
  ({ cookie } = visitor);
});

/** What has the focus, and whether it and what is wrong are in view. */
const seen = async (page: TestPage) => {
  await until('something has the focus', () =>
    page.look<boolean>('document.activeElement !== document.body'),
  );
  return page.evaluate(`(() => {
    const isInView = (one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    };
    const { activeElement: focused } = document;
    const message = document.querySelector('[data-refusal]');
    return { focus: focused.name || focused.textContent, isInView: isInView(focused) && isInView(message) };
  })()`);
};

const looks = [{ width: 1280 }, { width: 390 }] as const;

test.each(looks)('a password that is too short gets the focus, on %j', async (look) => {
  const page = await browsed.visit('/dashboard/account', look);
  await page.label('Current password').fill(wanted);
  await page.label('New password').fill('short');
  await page.role('button', 'Save password').click();
  await page.css('[data-refusal]').isShown();
  expect(await seen(page)).toEqual({ focus: 'wanted', isInView: true });
});

test.each(looks)('the scopes get the focus when a key has none, on %j', async (look) => {
  const page = await browsed.visit('/dashboard/keys', look);
  await page.label('Key name').fill('Till');
  await page.css('main input:checked').clickAll();
  await page.role('button', 'Create key').click();
  await page.css('[data-refusal]').isShown();
  expect(await seen(page)).toEqual({ focus: 'scopes', isInView: true });
});

test('a message about the whole form takes the focus', async () => {
  const page = await browsed.visit('/dashboard/account', { cookie, width: 390 });
  await page.label('Current password').fill('another one');
  await page.label('New password').fill(wanted);
  await page.role('button', 'Save password').click();
  await page.css('[data-refusal]').isShown();
  const focus = expect.stringMatching(/^The current password is/);
  expect(await seen(page)).toEqual({ focus, isInView: true });
});

test('an invalid address gets the focus in the invitation form', async () => {
  const page = await browsed.visit('/dashboard/account', { width: 390 });
  await page.label('Email').fill('keeper@zoo');
  await page.role('button', 'Invite').click();
  await page.css('[data-refusal]').isShown();
  expect(await seen(page)).toEqual({ focus: 'email', isInView: true });
});
