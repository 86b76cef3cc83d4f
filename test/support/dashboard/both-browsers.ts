import type { Browser, Page } from 'puppeteer-core';
import { neverMs, until } from '../until.ts';
import { sessionCookie } from './browser.ts';
import { launchBrowser, type BrowserKind } from './launch-browser.ts';
import { functionIn } from './page.ts';

export interface OpenPage {
  readonly browser: BrowserKind;
  readonly path: string;
  /**
   * Waits until both pages show the same as a page with this markup.
   * @throws Error if a page crashes, fails or never does
   */
  shows(markup: string): Promise<void>;
  rings(name: string): Promise<void>;
}

export interface BothBrowsers {
  open(path: string, cookie: string): Promise<readonly OpenPage[]>;
  close(): Promise<void>;
}

const shapeScript = functionIn('page-shape.js');

/** Starts Chromium over its own protocol and Firefox over WebDriver BiDi, each in a temporary profile. */
export const startBothBrowsers = async (origin: string): Promise<BothBrowsers> => {
  const all = await Promise.all([start('chromium'), start('firefox')]);
  return {
    open: (path, cookie) => Promise.all(all.map((one) => openPage(one, origin + path, cookie))),
    close: async () => {
      await Promise.all(all.map((one) => one.close()));
    },
  };
};

const start = async (name: BrowserKind) => ({ name, ...(await launchBrowser(name)) });

const openPage = async (
  { name, browser }: { readonly name: BrowserKind; readonly browser: Browser },
  url: string,
  cookie: string,
): Promise<OpenPage> => {
  await browser.setCookie(sessionCookie(cookie, url));
  const page = await browser.newPage();
  const { pathname } = new URL(url);
  const ended = endOf(page, browser);
  await page.goto(url, { timeout: neverMs });
  /** @param difference returns an empty text once the page is as wanted */
  const becomes = async (difference: string): Promise<void> => {
    let last: unknown;
    const isShown = until(`${name} ${pathname} becomes as wanted`, async () => {
      last = await page.evaluate(difference);
      return last === '';
    }).catch((cause: unknown) => {
      throw new Error(`${name} ${pathname}: ${String(last)}`, { cause });
    });
    await Promise.race([isShown, ended]);
  };
  const bell = `document.querySelector('[data-bell] button').ariaLabel`;
  return {
    browser: name,
    path: pathname,
    shows: (markup) => becomes(`(${shapeScript})(${JSON.stringify(markup)})`),
    rings: (label) => becomes(`(${bell} === ${JSON.stringify(label)} ? '' : ${bell})`),
  };
};

/** Rejects as soon as the page crashes, one of its scripts fails, or the browser ends. */
const endOf = (page: Page, browser: Browser): Promise<never> => {
  const ended = new Promise<never>((_, reject) => {
    page.once('error', reject);
    page.once('pageerror', reject);
    page.once('close', () => {
      reject(new Error('The page was closed.'));
    });
    browser.once('disconnected', () => {
      reject(new Error('The browser ended.'));
    });
  });
  // Handled while a page is waited for.
  ended.catch(() => undefined);
  return ended;
};
