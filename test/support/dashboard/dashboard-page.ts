import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { browserStartMs, startBrowser, type Look, type TestBrowser } from './browser.ts';
import { launchBrowser } from './launch-browser.ts';
import { startDashboard, type Owner, type RunningDashboard } from './running-dashboard.ts';
import type { TestPage } from './page.ts';
import { publicUrl, type Answer, type RunningApi } from '../http/running-api.ts';

export interface BrowsedDashboard {
  readonly dashboard: RunningDashboard;
  readonly owner: Owner;
  /** Opens a path as the owner, or as a stranger with `cookie: undefined`. */
  visit(path: string, look?: Look): Promise<TestPage>;
}

interface BrowseOptions {
  /** Whether pages stay open and are judged until the end of the file. */
  readonly keepsPages?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  /** Uses Firefox in a separate process instead of Chromium. */
  readonly isFirefox?: boolean;
}

/** A dashboard and a browser for one test file. A test fails if one of its pages did something forbidden. */
export const browseDashboard = (
  prepare: (browsed: BrowsedDashboard) => Promise<unknown>,
  { keepsPages = false, settings = {}, isFirefox = false }: BrowseOptions = {},
): BrowsedDashboard => {
  let dashboard: RunningDashboard;
  let owner: Owner;
  let browser: TestBrowser;
  const closing: (() => Promise<void>)[] = [];
  const browsed: BrowsedDashboard = {
    get dashboard() {
      return dashboard;
    },
    get owner() {
      return owner;
    },
    visit: async (path, look = {}) => {
      const page = await browser.open({ cookie: owner.visitor.cookie, ...look });
      await page.goto(dashboard.origin + path);
      return page;
    },
  };
  beforeAll(async () => {
    dashboard = await startDashboard({ settings });
    closing.push(() => dashboard.close());
    const firefox = isFirefox ? await launchBrowser('firefox') : undefined;
    browser = await startBrowser(dashboard.origin, firefox?.browser);
    closing.push(async () => {
      try {
        await browser.closePages();
      } finally {
        await firefox?.close();
      }
    });
    owner = await dashboard.newOwner();
    await prepare(browsed);
  }, browserStartMs);
  afterEach(() => (keepsPages ? undefined : browser.closePages()));
  afterAll(async () => {
    // The browser closes first, because its pages keep calling the dashboard.
    const [dashboardEnd, browserEnd] = closing;
    try {
      await browserEnd?.();
    } finally {
      await dashboardEnd?.();
    }
  });
  return browsed;
};

/** The path of the next page, from the `Link` header of a list; undefined on the last page. */
export const nextPage = ({ headers }: Answer): string | undefined => {
  const link = headers.get('Link');
  if (link === null) return undefined;
  const [, target = ''] = /^<([^>]*)>; rel="next"$/.exec(link) ?? [];
  expect(target.startsWith(`${publicUrl}/`)).toBe(true);
  return target.replace(publicUrl, '/v1');
};

/** Follows a list to its end. @returns the rows of each page */
export const walk = async <Row>(
  api: Pick<RunningApi, 'send'>,
  start: string,
  key?: string,
): Promise<readonly (readonly Row[])[]> => {
  const pages: (readonly Row[])[] = [];
  for (let path: string | undefined = start; path !== undefined;) {
    const answer = await api.send(path, key === undefined ? {} : { key });
    expect(answer.status).toBe(200);
    pages.push(answer.body as readonly Row[]);
    path = nextPage(answer);
    if (pages.length > 100) throw new Error(`${start} has no last page`);
  }
  return pages;
};
