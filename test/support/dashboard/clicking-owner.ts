import type { Found, TestPage } from './page.ts';
import type { TryOut } from '../../lab/try-out.ts';
import { until } from '../until.ts';
import { zipOf } from '../sites/archive-bytes.ts';

/** Waits until something is shown, even if the service looks again only after a minute. */
type Wait = (what: string, isShown: () => Promise<boolean>) => Promise<true>;

export const signIn = async ({ signInUrl }: TryOut): Promise<string> => {
  const entry = await fetch(signInUrl, { redirect: 'manual' });
  const cookies = entry.headers.getSetCookie();
  return cookies.find((one) => one.startsWith('session='))?.split(';')[0] ?? '';
};

export const press = (page: TestPage, name: string): Promise<void> =>
  page.role('button', name).click();

interface Ways {
  readonly wait: Wait;
  readonly javaScript?: boolean;
}

export class ClickingOwner {
  readonly page: TestPage;
  readonly #lab: TryOut;
  readonly #javaScript: boolean;
  readonly #wait: Wait;

  constructor(page: TestPage, lab: TryOut, { wait, javaScript = true }: Ways) {
    this.page = page;
    this.#lab = lab;
    this.#javaScript = javaScript;
    this.#wait = wait;
  }

  get #origin(): string {
    return this.#lab.service.origin;
  }

  /**
   * Requests a sign-in link by mail and follows it, after the session has ended and every page redirects to the sign-in
   * page.
   */
  async signInByMail(): Promise<void> {
    const { page } = this;
    await page.goto(`${this.#origin}/dashboard`);
    await page.isAt(/\/dashboard\/sign-in(?:\?|$)/);
    await page.goto(`${this.#origin}/dashboard/sign-in-link`);
    await page.label('Email').fill('owner@animal-store.test');
    await press(page, 'Send the link');
    const link = await until('the link has come', async () => {
      const list = await (await fetch(this.#lab.mailUrl)).text();
      const [, newest = ''] = /href="\/(\d+)\/html">[^<]*sign-in link/i.exec(list) ?? [];
      const mail = await fetch(`${this.#lab.mailUrl}${newest}/text`);
      return /http:\S+\/dashboard\/sign-in\/[^\s<]+/.exec(await mail.text())?.[0];
    });
    await page.goto(link);
    await press(page, 'Sign in');
    await page.role('button', 'Your menu').isShown();
  }

  async open(slug: string, host: string): Promise<void> {
    await this.openDomains(slug);
    await this.page.role('link', host).click();
  }

  async remove(slug: string, host: string): Promise<void> {
    const { page } = this;
    await this.openDomains(slug);
    await press(page, `Actions for ${host}`);
    await page.role('menuitem', 'Remove').click();
    await press(page, 'Remove domain');
    await this.#word('removed').isShown();
  }

  async publish(name: string): Promise<void> {
    const { page } = this;
    await page.goto(`${this.#origin}/dashboard`);
    await page.label('Project name').fill(name);
    await press(page, 'New project');
    const index = { name: 'index.html', content: `<h1>${name}</h1>` };
    await page.label('Site archive').upload(zipOf([index]));
    await press(page, 'Deploy');
    await page.words('succeeded').isShown();
  }

  async add(slug: string, host: string): Promise<string> {
    const { page } = this;
    await this.openDomains(slug);
    await page.label('Domain').fill(host);
    const hasOther = /^(www\.)?[^.]+\.[^.]+$/.test(host);
    if (hasOther) await page.role('checkbox', /^Also add/).tick(false);
    await press(page, 'Add domain');
    await page.role('heading', `Records to create for ${host}`).isShown();
    await page.role('heading', 'Diagnostics').click();
    return page.css('pre').has('$ORIGIN').read('textContent');
  }

  async makeDeployKey(slug: string): Promise<string> {
    const { page } = this;
    await page.goto(`${this.#origin}/dashboard/keys`);
    await page.label('Key name').fill('Laptop');
    await page.css('main input:checked').clickAll();
    await page.role('checkbox', /deploys:write/).tick();
    await page.label('May deploy to').choose(slug);
    await press(page, 'Create key');
    const shown = await page.role('region').has('It is not shown again').read();
    return /pets_live_\w{38}/.exec(shown)?.[0] ?? '';
  }

  async openDomains(slug: string): Promise<void> {
    await this.page.goto(`${this.#origin}/dashboard/projects/${slug}/settings/domains`);
  }

  /**
   * Presses Verify once it is enabled. The service may verify the domain earlier, because it also checks automatically.
   */
  async verify(): Promise<void> {
    const verify = this.page.css('main button:enabled:not([data-ready-at])').has(/^Verify$/);
    const isDone = async () =>
      (await this.#word('verified').isVisible()) || (await this.#word('live').isVisible());
    await this.#sees('Verify', async () => (await isDone()) || verify.clickIfThere());
  }

  /** With scripts the page updates; without scripts, this reloads it. */
  async #sees(what: string, isShown: () => Promise<boolean>): Promise<void> {
    await this.#wait(`the page shows ${what}`, async () => {
      if (await isShown()) return true;
      if (!this.#javaScript) await this.page.raw.reload();
      return false;
    });
  }

  seesText(text: string): Promise<void> {
    return this.#sees(text, () => this.page.css('main').words(text).isVisible());
  }

  async seesBelow(heading: 'Certificate' | 'Timeline', text: string): Promise<void> {
    await this.page.role('heading', heading).click();
    await this.seesText(text);
  }

  seesState(state: string): Promise<void> {
    return this.#sees(state, () => this.#word(state).isVisible());
  }

  #word(state: string): Found {
    return this.page.css('main').exactly(state);
  }
}
