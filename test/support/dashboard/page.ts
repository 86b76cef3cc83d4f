import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  CDPSession,
  HTTPRequest,
  KeyInput,
  Page,
  PageEvents,
  ResponseForRequest,
} from 'puppeteer-core';
import { neverMs, until } from '../until.ts';

/** A script that is one function, as an expression. */
export const functionIn = (file: string): string =>
  readFileSync(join(import.meta.dirname, file), 'utf8')
    .replace(/^\/\/.*\n/gm, '')
    .trim()
    .replace(/;$/, '');

const finder = functionIn('page-finder.js');
const clock = functionIn('page-clock.js');

type Role =
  | ('alert' | 'button' | 'cell' | 'checkbox' | 'combobox' | 'heading' | 'link' | 'menuitem')
  | ('navigation' | 'region' | 'row' | 'status');

/** Finds what people see. A name must match completely; a text may be a part of the element's text. */
abstract class Scope {
  protected abstract narrow(step: object): Found;

  /** Finds only visible elements. */
  role(role: Role, name?: string | RegExp): Found {
    return this.narrow({ role, ...(name !== undefined && { label: wholeOf(name) }) });
  }
  /** Finds the field with this label. */
  label(name: string | RegExp): Found {
    return this.narrow({ label: wholeOf(name) });
  }
  words(text: string | RegExp): Found {
    return this.narrow({ text: partOf(text) });
  }
  exactly(text: string): Found {
    return this.narrow({ text: { whole: text } });
  }
  css(selector: string): Found {
    return this.narrow({ css: selector });
  }
}

const patternOf = ({ source, flags }: RegExp): object => ({ source, flags });
const wholeOf = (text: string | RegExp): object =>
  typeof text === 'string' ? { whole: text } : patternOf(text);
const partOf = (text: string | RegExp): object =>
  typeof text === 'string' ? { part: text } : patternOf(text);

/** An element of a page, which is searched again for each use. Uses wait for it; the first visible match counts. */
export class Found extends Scope {
  readonly #page: TestPage;
  readonly #steps: readonly object[];

  constructor(page: TestPage, steps: readonly object[]) {
    super();
    this.#page = page;
    this.#steps = steps;
  }

  protected narrow(step: object): Found {
    return new Found(this.#page, [...this.#steps, step]);
  }
  has(text: string | RegExp): Found {
    return this.narrow({ has: partOf(text) });
  }
  last(): Found {
    return this.narrow({ last: true });
  }

  count(): Promise<number> {
    return this.#done('count');
  }
  isVisible(): Promise<boolean> {
    return this.#ask<boolean>('isVisible').then(Boolean);
  }
  async isShown(): Promise<void> {
    await this.#until('is shown', () => this.isVisible());
  }
  async isGone(): Promise<void> {
    await this.#until('is gone', async () => !(await this.isVisible()));
  }
  read<T = string>(property = 'innerText'): Promise<T> {
    return this.#done('property', property);
  }
  readAll(property = 'textContent'): Promise<readonly string[]> {
    return this.#done('all', property);
  }

  /** Clicks once nothing covers the element. Waits for the next page. */
  async click(): Promise<void> {
    await this.#until('can be pressed', () => this.clickIfThere());
  }
  async clickIfThere(): Promise<boolean> {
    if (!(await this.#ask<boolean>('press'))) return false;
    await this.#page.settled();
    return true;
  }
  async fill(text: string): Promise<void> {
    await this.#done('fill', text);
  }
  async type(text: string): Promise<void> {
    await this.focus();
    await this.#page.raw.keyboard.type(text);
  }
  async focus(): Promise<void> {
    await this.#done('focus');
  }
  async tick(wanted = true): Promise<void> {
    if ((await this.read<boolean>('checked')) !== wanted) await this.click();
  }
  async clickAll(): Promise<void> {
    while ((await this.count()) > 0) await this.click();
  }
  async choose(option: string): Promise<void> {
    await this.#done('choose', option);
  }
  async upload(bytes: Uint8Array, name = 'site.zip'): Promise<void> {
    await this.#done('upload', { name, base64: Buffer.from(bytes).toString('base64') });
  }

  #ask<T>(verb: string, value?: unknown): Promise<T | undefined> {
    const parts = [this.#steps, verb, value ?? null].map((part) => JSON.stringify(part));
    return this.#page.look<T>(`(${finder})(${parts.join()})`);
  }
  async #done<T>(verb: string, value?: unknown): Promise<T> {
    let answer: T | undefined;
    await this.#until(verb, async () => {
      answer = await this.#ask<T>(verb, value);
      return answer !== undefined;
    });
    return answer as T;
  }
  #until<T>(what: string, ask: () => Promise<T | undefined | false>): Promise<T> {
    return until(`${JSON.stringify(this.#steps)} ${what}, on ${this.#page.url}`, ask);
  }
}

export class TestPage extends Scope {
  readonly raw: Page;
  /** Only Chromium has a session. */
  readonly #session: CDPSession | undefined;
  #isLeaving = false;

  private constructor(raw: Page, session?: CDPSession) {
    super();
    this.raw = raw;
    this.#session = session;
  }

  static inFirefox(raw: Page): TestPage {
    raw.setDefaultTimeout(neverMs);
    const page = new TestPage(raw);
    const isOfPage = (request: HTTPRequest) =>
      request.isNavigationRequest() && request.frame() === raw.mainFrame();
    raw.on('request', (request) => {
      if (isOfPage(request)) page.#isLeaving = true;
    });
    raw.on('requestfailed', (request) => {
      if (isOfPage(request)) page.#isLeaving = false;
    });
    raw.on('load', () => {
      page.#isLeaving = false;
    });
    return page;
  }

  static async inChromium(raw: Page): Promise<TestPage> {
    raw.setDefaultTimeout(neverMs);
    const session = await raw.createCDPSession();
    await session.send('Page.enable');
    const { frameTree } = await session.send('Page.getFrameTree');
    const page = new TestPage(raw, session);
    const note = (isLeaving: boolean) => (event: { readonly frameId: string }) => {
      if (event.frameId === frameTree.frame.id) page.#isLeaving = isLeaving;
    };
    session.on('Page.frameRequestedNavigation', note(true));
    session.on('Page.frameStartedNavigating', note(true));
    session.on('Page.frameStoppedLoading', note(false));
    session.on('Page.navigatedWithinDocument', note(false));
    return page;
  }

  protected narrow(step: object): Found {
    return new Found(this, [step]);
  }
  get url(): string {
    return this.raw.url();
  }
  async goto(url: string): Promise<void> {
    await this.raw.goto(url);
  }
  async press(...keys: readonly KeyInput[]): Promise<void> {
    for (const key of keys) await this.raw.keyboard.press(key);
  }
  async evaluate<T = unknown>(script: string): Promise<T> {
    return (await this.raw.evaluate(script)) as T;
  }

  /** Returns undefined if the page was left meanwhile. */
  look<T>(script: string): Promise<T | undefined> {
    return this.evaluate<T>(script).catch((error: unknown) => {
      if (/context|navigat|detached/i.test(String(error))) return undefined;
      throw error;
    });
  }

  /** Waits until the page is loaded that a click or a key may have opened. */
  async settled(): Promise<void> {
    // The answer comes after the effects of the click have begun.
    if (this.#session) await this.#session.send('Page.enable');
    else await until(`the form on ${this.url} is sent`, () => this.look<boolean>(isNothingBegun));
    await until(`the page after ${this.url} is loaded`, () => !this.#isLeaving);
  }

  async isAt(address: string | RegExp): Promise<void> {
    const isThere = () =>
      typeof address === 'string' ? this.url.endsWith(address) : address.test(this.url);
    await until(`the page is at ${String(address)}`, isThere);
  }

  happens<Name extends keyof PageEvents>(
    name: Name,
    fits: (event: PageEvents[Name]) => boolean = () => true,
  ): Promise<PageEvents[Name]> {
    return new Promise((resolve) => {
      this.raw.on(name, (event: PageEvents[Name]) => {
        if (fits(event)) resolve(event);
      });
    });
  }

  /** Answers requests in place of the service. */
  async intercept(
    answer: (request: HTTPRequest) => MadeAnswer | Promise<MadeAnswer>,
  ): Promise<void> {
    await this.raw.setRequestInterception(true);
    this.raw.on('request', (request) => {
      const answered = Promise.resolve(answer(request)).then((made) =>
        made ? request.respond(made) : request.continue(),
      );
      // The page may be closed meanwhile.
      answered.catch(() => undefined);
    });
  }

  /** Applies to the pages that it opens from now on. */
  async stopClock(now: Date): Promise<void> {
    await this.raw.evaluateOnNewDocument(`(${clock})(${now.getTime()})`);
  }
  async passTime(ms: number): Promise<void> {
    await this.evaluate(`passTime(${ms})`);
  }

  async show({ width, height = 844, theme = 'light' }: View): Promise<void> {
    const isSized = this.raw.setViewport({ width, height });
    if (!this.#session) {
      // The driver also sets the orientation, which Firefox 140 refuses. The driver cannot set what follows.
      await isSized.catch(unlessUnknownCommand);
      await until('the page is so wide', async () => (await this.look('innerWidth')) === width);
      return;
    }
    await isSized;
    await this.raw.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: theme },
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ]);
  }
}

const unlessUnknownCommand = (error: unknown): void => {
  if (!String(error).includes('unknown command')) throw error;
};

/** The script of a page sends a form once it has reached the service, and marks the form until the page is left. */
const isNothingBegun = `new Promise((done) => setTimeout(() => setTimeout(done)))
  .then(() => !document.querySelector('form[data-sent]'))`;

type MadeAnswer = Partial<ResponseForRequest> | undefined;

export interface View {
  readonly width: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
}
