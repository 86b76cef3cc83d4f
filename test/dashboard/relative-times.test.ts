import { expect, test } from '@jest/globals';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { from, knownTimes } from '../support/known-times.ts';
import { until } from '../support/until.ts';

const browsed = browseDashboard(() => Promise.resolve());

test('the script tells times in the words of the server', async () => {
  const page = await browsed.visit('/dashboard/sign-in', { cookie: undefined });
  await page.clock.setFixedTime(from);
  const times = knownTimes.map(([ms]) => new Date(from.getTime() + ms).toISOString());
  await page.evaluate(`
    for (const relative of ['', 'plain']) {
      for (const dateTime of ${JSON.stringify(times)}) {
        const time = Object.assign(document.createElement('time'), { dateTime });
        time.dataset.relative = relative;
        document.body.append(time);
      }
    }`);
  const told = () => page.locator('time').allTextContents();
  await until('the script told all of them', async () => (await told()).every(Boolean));
  expect(await told()).toEqual([
    ...knownTimes.map(([, words, date]) => (date === '' ? words : `${words}, ${date}`)),
    ...knownTimes.map(([, words]) => words),
  ]);
});
