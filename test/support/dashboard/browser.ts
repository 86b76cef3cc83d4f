import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { browserVariable, launchBrowser } from './launch-browser.ts';
import { neverMs } from '../until.ts';

export interface Look {
  readonly javaScript?: boolean;
  readonly theme?: 'light' | 'dark';
  /** Of the window, in CSS pixels. */
  readonly width?: number;
  /** `name=value`, as of a session. */
  readonly cookie?: string | undefined;
}

/** A real browser for one service, which records everything that must not happen there. */
export interface TestBrowser {
  /** A page in its own profile. */
  open(look?: Look): Promise<Page>;
  /** @throws Error when a page asked another host, failed to run a script, or showed a dialog */
  closePages(): Promise<void>;
  /** The same, and closes the browser. */
  close(): Promise<void>;
}

/** For the hook that starts one: a machine without a browser downloads and unpacks it first. */
export const browserStartMs = 600_000;

export const startBrowser = async (origin: string): Promise<TestBrowser> => {
  const { end, browser } = await connect();
  const open = new Set<{ readonly context: BrowserContext; readonly faults: readonly string[] }>();

  const closePages = async (): Promise<void> => {
    const all = [...open];
    open.clear();
    for (const { context } of all) await context.close();
    const faults = all.flatMap((one) => one.faults);
    if (faults.length > 0) throw new Error(`what no page may do:\n${faults.join('\n')}`);
  };
  return {
    open: async ({ javaScript = true, theme = 'light', width = 1280, cookie } = {}) => {
      const context = await browser.newContext({
        javaScriptEnabled: javaScript,
        colorScheme: theme,
        viewport: { width, height: 844 },
        reducedMotion: 'reduce',
      });
      context.setDefaultTimeout(neverMs);
      const faults: string[] = [];
      open.add({ context, faults });
      watch(context, origin, (fault) => faults.push(fault));
      const [name = '', value = ''] = cookie?.split('=') ?? [];
      if (cookie !== undefined) await context.addCookies([{ name, value, url: origin }]);
      return context.newPage();
    },
    closePages,
    close: async () => {
      try {
        await closePages();
      } finally {
        await end();
      }
    },
  };
};

/** To the browser of the whole run, or to one of its own where a run has none. */
const connect = async () => {
  const shared = process.env[browserVariable];
  const launched = shared === undefined ? await launchBrowser() : undefined;
  const browser = await chromium.connect(launched?.endpoint ?? shared ?? '');
  return {
    browser,
    end: async () => {
      await browser.close();
      await launched?.stop();
    },
  };
};

const watch = (context: BrowserContext, origin: string, tell: (fault: string) => void): void => {
  /** Chromium also reports an error for a page that is refused on purpose. */
  const pages = new Set<string>();
  const note = (page: Page | null, what: string) => {
    tell(`${page?.url().replace(origin, '') ?? ''} ${what}`);
  };
  context.on('request', (request) => {
    if (request.isNavigationRequest()) pages.add(placeless(request.url()));
    if (new URL(request.url()).origin !== origin) note(null, `asked ${request.url()}`);
  });
  context.on('console', (message) => {
    const refused = message.text().startsWith('Failed to load resource: the server responded with');
    if (refused && pages.has(placeless(message.location().url))) return;
    if (message.type() === 'error') note(message.page(), message.text());
  });
  context.on('page', (page) => {
    page.on('crash', () => {
      note(page, 'crashed');
    });
  });
  context.on('weberror', (error) => {
    note(error.page(), String(error.error()));
  });
  context.on('dialog', (dialog) => {
    note(dialog.page(), `said ${dialog.message()}`);
    // The page may be closed meanwhile.
    dialog.dismiss().catch(() => undefined);
  });
};

/** Without the place on the page. */
const placeless = (url: string): string => url.replace(/#.*/s, '');
