import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { browserStartMs, startBrowser, type TestBrowser } from '../../support/dashboard/browser.ts';
import { browseDashboard } from '../../support/dashboard/dashboard-page.ts';
import { launchBrowser } from '../../support/dashboard/launch-browser.ts';
import { mainWays } from '../../support/dashboard/main-ways.ts';
import { FirstDay } from '../../support/dashboard/new-owner.ts';

describe('in Firefox, without scripts,', () => {
  const browsed = browseDashboard(() => Promise.resolve(), { isFirefox: true });

  test.each(Object.entries(mainWays))('%s', async (_, walk) => {
    const { dashboard, owner } = browsed;
    const visit = (path: string, cookie = owner.visitor.cookie) =>
      browsed.visit(path, { javaScript: false, cookie: cookie === '' ? undefined : cookie });
    await walk({ dashboard, owner, visit });
  });
});

describe('in Firefox, with all servers,', () => {
  let day: FirstDay;
  let browser: TestBrowser;
  let firefox: Awaited<ReturnType<typeof launchBrowser>>;
  beforeAll(async () => {
    day = await FirstDay.begin();
    firefox = await launchBrowser('firefox');
    browser = await startBrowser(day.lab.service.origin, firefox.browser);
  }, browserStartMs);
  afterAll(async () => {
    try {
      await browser.closePages();
    } finally {
      await firefox.close();
      await day.close();
    }
  });

  test('a new owner gets from the mailed invitation to a live domain and a deploy from a laptop', async () => {
    await day.live('in-firefox', await browser.open(), true);
  });
});
