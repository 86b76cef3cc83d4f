import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { findBrowser } from './browser-program.ts';
import { startGuard } from '../servers/debian-server.ts';
import { neverMs, until } from '../until.ts';

/** A page that stays open, in one of the browsers. */
export interface OpenPage {
  readonly browser: BothName;
  readonly path: string;
  /** Waits until it shows the same as a page with this markup. @throws Error when it crashes, fails or never does */
  shows(markup: string): Promise<void>;
  /** Waits until the bell has this name. @throws Error as `shows` does */
  rings(name: string): Promise<void>;
}

export interface BothBrowsers {
  /** In each browser, with the session of the cookie. */
  open(path: string, cookie: string): Promise<readonly OpenPage[]>;
  close(): Promise<void>;
}

const programs = { chromium: 'chromium', firefox: 'firefox-esr' } as const;
type BothName = keyof typeof programs;

const shapeScript = readFileSync(join(import.meta.dirname, 'page-shape.js'), 'utf8')
  .trim()
  .replace(/;$/, '');

/** Chromium over its own protocol, Firefox over WebDriver BiDi; each in a profile that is gone afterwards. */
export const startBothBrowsers = async (origin: string): Promise<BothBrowsers> => {
  const all = await Promise.all([start('chromium'), start('firefox')]);
  return {
    open: (path, cookie) => Promise.all(all.map((one) => openPage(one, origin + path, cookie))),
    close: async () => {
      await Promise.all(all.map(({ end }) => end()));
    },
  };
};

interface Started {
  readonly name: BothName;
  readonly browser: Browser;
  readonly end: () => Promise<void>;
}

const start = async (name: BothName): Promise<Started> => {
  const { executable, environment } = await findBrowser(programs[name]);
  const folder = await mkdtemp(join(tmpdir(), `animal-store-${name}-`));
  const guard = startGuard(folder);
  const browser = await puppeteer.launch({
    ...(name === 'firefox'
      ? { browser: 'firefox' }
      : { args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'] }),
    executablePath: executable,
    userDataDir: join(folder, 'profile'),
    env: { ...process.env, ...environment, HOME: folder, TMPDIR: folder },
    timeout: neverMs,
  });
  guard.write(`${browser.process()?.pid ?? ''}\n`);
  return {
    ...{ name, browser },
    end: async () => {
      await browser.close();
      guard.end('\n');
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const openPage = async (
  { name, browser }: Started,
  url: string,
  cookie: string,
): Promise<OpenPage> => {
  const { hostname, pathname } = new URL(url);
  const [key = '', value = ''] = cookie.split('=');
  await browser.setCookie({ name: key, value, domain: hostname, httpOnly: true, sameSite: 'Lax' });
  const page = await browser.newPage();
  const ended = endOf(page, browser);
  await page.goto(url, { timeout: neverMs });
  /** @param difference empty once the page is as wanted */
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
    ...{ browser: name, path: pathname },
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
  // Heard while a page is waited for.
  ended.catch(() => undefined);
  return ended;
};
