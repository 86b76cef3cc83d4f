import { expect, test } from '@jest/globals';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { from, knownTimes } from '../support/known-times.ts';

const browsed = browseDashboard(() => Promise.resolve());

test('the script tells times in the words of the server', async () => {
  const now = browsed.dashboard.clock.now();
  const page = await browsed.visit('/dashboard/sign-in', { cookie: undefined, now });
  const times = knownTimes.map(([ms]) => new Date(from.getTime() + ms).toISOString());
  await page.evaluate(`
    for (const relative of ['', 'plain']) {
      for (const dateTime of ${JSON.stringify(times)}) {
        const time = Object.assign(document.createElement('time'), { dateTime });
        time.dataset.relative = relative;
        document.body.append(time);
      }
    }`);
  await page.evaluate(`Date.now = () => ${from.getTime()}`);
  await page.passTime(1000);
  expect(await page.css('time').readAll()).toEqual([
    ...knownTimes.map(([, words, date]) => (date === '' ? words : `${words}, ${date}`)),
    ...knownTimes.map(([, words]) => words),
  ]);
});
