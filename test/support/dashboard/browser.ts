import type { Browser, BrowserContext, HTTPRequest, Page } from 'puppeteer-core';
import { sharedChromium } from './launch-browser.ts';
import { TestPage } from './page.ts';

export interface Look {
  readonly javaScript?: boolean;
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly cookie?: string | undefined;
  /** The page's clock stands still at this time until the test advances it. */
  readonly now?: Date;
}

/** A real browser for one service. It records everything that must not happen there. */
export interface TestBrowser {
  open(look?: Look): Promise<TestPage>;
  /** @throws Error if a page called another host, failed to run a script, or showed a dialog */
  closePages(): Promise<void>;
}

/** Deadline of the hook that starts a browser. A machine without a browser downloads and unpacks one first. */
export const browserStartMs = 600_000;

/** @param firefox replaces Chromium; its owner closes it */
export const startBrowser = async (origin: string, firefox?: Browser): Promise<TestBrowser> => {
  const browser = firefox ?? (await sharedChromium());
  const open = new Set<{ readonly context: BrowserContext; readonly faults: readonly string[] }>();
  return {
    open: async ({ javaScript = true, theme = 'light', width = 1280, cookie, now } = {}) => {
      const context = await browser.createBrowserContext();
      const faults: string[] = [];
      open.add({ context, faults });
      if (cookie !== undefined) await context.setCookie(sessionCookie(cookie, origin));
      const raw = await context.newPage();
      watch(raw, origin, (fault) => faults.push(fault));
      const page = firefox ? TestPage.inFirefox(raw) : await TestPage.inChromium(raw);
      if (firefox) {
        if (!javaScript) await page.intercept(withoutScripts);
      } else {
        await raw.setJavaScriptEnabled(javaScript);
        await raw.emulateFocusedPage(true);
      }
      await page.show({ width, theme });
      if (now) await page.stopClock(now);
      return page;
    },
    closePages: async () => {
      const all = [...open];
      open.clear();
      for (const { context } of all) await context.close();
      const faults = all.flatMap((one) => one.faults);
      if (faults.length > 0) throw new Error(`what no page may do:\n${faults.join('\n')}`);
    },
  };
};

const withoutScripts = (request: HTTPRequest) =>
  request.url().endsWith('.js') ? { contentType: 'text/javascript', body: '' } : undefined;

export const sessionCookie = (cookie: string, origin: string) => {
  const [name = '', value = ''] = cookie.split('=');
  const { hostname: domain } = new URL(origin);
  return { name, value, domain, httpOnly: true, sameSite: 'Lax' as const };
};

/** Firefox reports a live stream whose page is left, or whose service has ended, like a failure of a script. */
const streamOfFirefox =
  /^Error: (The connection to|Firefox can’t establish a connection to the server at) http/;

const watch = (page: Page, origin: string, tell: (fault: string) => void): void => {
  /** Chromium also reports an error for a page that is refused on purpose. */
  const pages = new Set<string>();
  const note = (what: string) => {
    tell(`${page.url().replace(origin, '')} ${what}`);
  };
  page.on('request', (request) => {
    const url = request.url();
    if (request.isNavigationRequest()) pages.add(placeless(url));
    if (!url.startsWith('data:') && new URL(url).origin !== origin) tell(`asked ${url}`);
  });
  page.on('console', (message) => {
    const refused = message.text().startsWith('Failed to load resource: the server responded with');
    if (refused && pages.has(placeless(message.location().url ?? ''))) return;
    if (message.type() === 'error') note(message.text());
  });
  page.on('error', (error) => {
    note(`crashed: ${String(error)}`);
  });
  page.on('pageerror', (error) => {
    if (!streamOfFirefox.test(String(error))) note(String(error));
  });
  page.on('dialog', (dialog) => {
    note(`said ${dialog.message()}`);
    // The page may be closed meanwhile.
    dialog.dismiss().catch(() => undefined);
  });
  page.on('popup', (popup) => {
    if (popup) watch(popup, origin, tell);
  });
};

const placeless = (url: string): string => url.replace(/#.*/s, '');
