import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AxeResults } from 'axe-core';
import type { TestPage } from '../../support/dashboard/page.ts';
import { renderMail, renderSummary } from '../../../src/adapters/mail/mail-html.ts';
import { kinds } from '../../../src/notifications/domain/kinds.ts';
import { axe } from '../../support/dashboard/crawl.ts';
import { browserStartMs, startBrowser, type TestBrowser } from '../../support/dashboard/browser.ts';
import { everyKind } from '../../support/notifications.ts';

const envelope = {
  account: 'Happy Paws',
  origin: 'https://store.example',
  unsubscribeUrl: 'https://store.example/unsubscribe',
};
const label = 'a'.repeat(63);
const host = `${label}.${label}.example`;
const long = everyKind({ project: 'p'.repeat(40), host, name: host });
const mails = {
  ...Object.fromEntries(everyKind().map((one) => [one.kind, renderMail({ ...one, ...envelope })])),
  'long names': renderMail({ ...long[4]!, ...envelope, account: 'W'.repeat(100) }),
  'a summary': renderSummary({
    ...envelope,
    told: [...everyKind(), ...long].filter(({ kind }) => kinds[kind].to === 'owners'),
  }),
};

let browser: TestBrowser;
let page: TestPage;
const asked: string[] = [];
beforeAll(async () => {
  browser = await startBrowser('about:blank');
  page = await browser.open();
  page.raw.on('request', (request) => asked.push(request.url()));
}, browserStartMs);
afterAll(() => browser.closePages());

/**
 * The problems that axe finds, without the rules for pages of a site. @param rules all accessibility rules
 * by default
 */
const faultsOf = async (...rules: readonly string[]): Promise<readonly string[]> => {
  const runOnly = rules.length > 0 ? rules : ['wcag2a', 'wcag2aa', 'best-practice'];
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, ${JSON.stringify({ runOnly, resultTypes: ['violations'] })})`,
  );
  return violations
    .filter(({ id }) => id !== 'region' && !id.startsWith('landmark-'))
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
};

const grounds = { light: 'rgb(246, 247, 245)', dark: 'rgb(16, 20, 19)' };

test.each(Object.entries(mails))(
  'the mail %s reads well on a desktop and a phone, in light and dark mode, and loads nothing',
  async (_, { html }) => {
    await page.raw.setContent(html);
    await page.evaluate(axe);
    for (const width of [600, 360]) {
      await page.show({ width, height: 600 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
    expect(await faultsOf()).toEqual([]);
    for (const theme of ['light', 'dark'] as const) {
      await page.show({ width: 360, height: 600, theme });
      const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(ground).toBe(grounds[theme]);
      expect(await faultsOf('color-contrast')).toEqual([]);
    }
    expect(asked).toEqual([]);
  },
);
