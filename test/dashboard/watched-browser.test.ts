import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { browserStartMs, startBrowser, type TestBrowser } from '../support/dashboard/browser.ts';
import { startDashboard, type RunningDashboard } from '../support/dashboard/running-dashboard.ts';

// What no page may do has to be noticed when one does it: else the other tests here would say nothing.

let dashboard: RunningDashboard;
let browser: TestBrowser;
beforeAll(async () => {
  dashboard = await startDashboard();
  browser = await startBrowser(dashboard.origin);
}, browserStartMs);
afterAll(async () => {
  await browser.closePages();
  await dashboard.close();
});

/** What a page does, how that shows, and what is said of it. */
const faults = [
  ['asks another host', "fetch('http://127.0.0.1:1/').catch(() => 0)", 'console', 'connect-src'],
  [
    'leads elsewhere',
    "setTimeout(() => { location.href = 'http://127.0.0.1:1/'; })",
    'request',
    'asked http://127.0.0.1:1',
  ],
  ['is styled inline', "document.body.setAttribute('style', 'top: 0')", 'console', 'style-src'],
  ['has a script inline', 'document.body.append(script)', 'console', 'script-src'],
  [
    'runs markup',
    "document.body.innerHTML = '<img src=x onerror=alert(1)>'",
    'console',
    'script-src',
  ],
  ['fails', "setTimeout(() => { throw new Error('too late'); })", 'pageerror', 'too late'],
  ['stops the visitor', "setTimeout(() => alert('who are you'))", 'dialog', 'who are you'],
  ['misses a picture', "document.images[0].src = '/dashboard/x'", 'console', '404'],
] as const;

test.each(faults)('the test browser reports a page that %s', async (_, act, event, said) => {
  const page = await browser.open();
  await page.goto(`${dashboard.origin}/dashboard/sign-in`);
  const shown = page.happens(event);
  await page.evaluate(`(() => {
    const script = Object.assign(document.createElement('script'), { text: '1' });
    ${act};
  })()`);
  await shown;
  await expect(browser.closePages()).rejects.toThrow(said);
});

test('a page that is refused on purpose is not reported', async () => {
  const page = await browser.open();
  await page.goto(`${dashboard.origin}/dashboard/nowhere`);
  await page.goto(`${dashboard.origin}/dashboard/sign-in/made-up#x`);
  await browser.closePages();
});

test('the test browser reports a page that crashes', async () => {
  const page = await browser.open();
  const crashed = page.happens('error');
  page.goto('chrome://crash').catch(() => undefined);
  await crashed;
  await expect(browser.closePages()).rejects.toThrow('crashed');
});
