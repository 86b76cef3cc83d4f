import { afterAll, beforeAll, test } from '@jest/globals';
import { browserStartMs, startBrowser, type TestBrowser } from '../support/dashboard/browser.ts';
import { FirstDay } from '../support/dashboard/new-owner.ts';

let day: FirstDay;
let browser: TestBrowser;
beforeAll(async () => {
  day = await FirstDay.begin();
  browser = await startBrowser(day.lab.service.origin);
}, browserStartMs);
afterAll(async () => {
  try {
    await browser.closePages();
  } finally {
    await day.close();
  }
});

test('a new owner gets from a mailed invitation to a live domain and a deploy from a laptop, with and without scripts', async () => {
  const live = async (slug: string, javaScript: boolean) =>
    day.live(slug, await browser.open({ javaScript }), javaScript);
  await Promise.all([live('with-scripts', true), live('without-scripts', false)]);
});
