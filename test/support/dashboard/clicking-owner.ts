import type { Locator, Page } from 'playwright-core';
import type { TryOut } from '../../lab/try-out.ts';
import { until } from '../until.ts';
import { zipOf } from '../sites/zip-bytes.ts';

/** Beyond the first look that the service takes by itself, a minute after somebody pressed Verify. */
const patienceMs = 90_000;

/** The cookie of somebody who used the sign-in link of the lab. */
export const signIn = async ({ signInUrl }: TryOut): Promise<string> => {
  const entry = await fetch(signInUrl, { redirect: 'manual' });
  const cookies = entry.headers.getSetCookie();
  return cookies.find((one) => one.startsWith('session='))?.split(';')[0] ?? '';
};

export const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click();

/** Presses it, and waits until the server has done what it says. */
export const pressed = async (page: Page, name: string): Promise<void> => {
  const isDone = page.waitForResponse((one) => one.request().method() === 'POST');
  await Promise.all([isDone, press(page, name)]);
};

/** What an owner does in the dashboard of the lab, on one page. */
export class ClickingOwner {
  readonly page: Page;
  readonly #lab: TryOut;
  readonly #javaScript: boolean;

  constructor(page: Page, lab: TryOut, javaScript = true) {
    this.page = page;
    this.#lab = lab;
    this.#javaScript = javaScript;
  }

  get #origin(): string {
    return this.#lab.service.origin;
  }

  /** When the session is over, which leads the page to the sign-in: has a link sent, and follows it. */
  async signInByMail(): Promise<void> {
    const { page } = this;
    await page.waitForURL(/\/dashboard\/sign-in\?/);
    await page.goto(`${this.#origin}/dashboard/sign-in-link`);
    await page.getByLabel('Email').fill('owner@animal-store.test');
    await press(page, 'Send the link');
    const link = await until('the link has come', async () => {
      const list = await (await fetch(this.#lab.mailUrl)).text();
      const [, newest = ''] = /href="\/(\d+)\/html">[^<]*sign-in link/i.exec(list) ?? [];
      const mail = await fetch(`${this.#lab.mailUrl}${newest}/text`);
      return /http:\S+\/dashboard\/sign-in\/[^\s<]+/.exec(await mail.text())?.[0];
    });
    await page.goto(link);
    await press(page, 'Sign in');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  }

  async open(slug: string, host: string): Promise<void> {
    await this.openDomains(slug);
    await this.page.getByRole('link', { name: host, exact: true }).click();
  }

  async remove(slug: string, host: string): Promise<void> {
    const { page } = this;
    await this.openDomains(slug);
    await press(page, `Actions for ${host}`);
    await page.getByRole('menuitem', { name: 'Remove', exact: true }).first().click();
    await press(page, 'Remove domain');
    await this.#word('removed').first().waitFor();
  }

  async publish(name: string): Promise<void> {
    const { page } = this;
    await page.goto(`${this.#origin}/dashboard`);
    await page.getByLabel('Project name').fill(name);
    await press(page, 'New project');
    const index = { name: 'index.html', content: `<h1>${name}</h1>` };
    const archive = { name: 'site.zip', mimeType: 'application/zip', buffer: zipOf([index]) };
    await page.getByLabel('Site archive').setInputFiles(archive);
    await press(page, 'Deploy');
    await page.getByText('succeeded').first().waitFor();
  }

  /** @returns the zone file lines that the page shows */
  async add(slug: string, host: string): Promise<string> {
    const { page } = this;
    await this.openDomains(slug);
    await page.getByLabel('Domain', { exact: true }).fill(host);
    const hasOther = /^(www\.)?[^.]+\.[^.]+$/.test(host);
    if (hasOther) await page.getByRole('checkbox', { name: /^Also add/ }).uncheck();
    await press(page, 'Add domain');
    await page.getByRole('heading', { name: `Records to create for ${host}` }).waitFor();
    const lines = await page.locator('pre', { hasText: '$ORIGIN' }).first().textContent();
    await page.getByRole('link', { name: host, exact: true }).click();
    return lines ?? '';
  }

  async openDomains(slug: string): Promise<void> {
    await this.page.goto(`${this.#origin}/dashboard/projects/${slug}/settings/domains`);
  }

  /** Once it may be pressed. The service may be faster, as it looks by itself too. */
  async verify(): Promise<void> {
    const name = { hasText: /^Verify$/ };
    const verify = this.page.locator('main button:enabled:not([data-ready-at])', name);
    const done = this.#word('verified').or(this.#word('live')).first();
    await this.sees(verify.or(done));
    if (await done.isVisible()) return;
    // Given up before it could press the button of another domain: the service was faster.
    await verify
      .first()
      .click({ timeout: 10_000 })
      .catch(() => undefined);
  }

  /** With scripts the page follows by itself; without, somebody reloads it. */
  async sees(wanted: Locator): Promise<void> {
    const shown = wanted.first();
    if (this.#javaScript) return shown.waitFor({ timeout: patienceMs });
    const looks = async () => {
      if (await shown.isVisible()) return true;
      await this.page.reload();
      return false;
    };
    await until(`the page shows ${String(wanted)}`, looks);
  }

  seesText(text: string): Promise<void> {
    return this.sees(this.page.locator('main').getByText(text));
  }

  seesState(state: string): Promise<void> {
    return this.sees(this.#word(state));
  }

  #word(state: string): Locator {
    return this.page.locator('main').getByText(state, { exact: true });
  }
}
