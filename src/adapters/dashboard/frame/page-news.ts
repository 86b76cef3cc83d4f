import type { SignedIn } from '../../../access/people-ports.ts';
import type { Screen, Visit } from './screen.ts';

/** At two seconds each, a page is rendered every 30 s in any case: time alone changes some words, such as "expired". */
const mostSkipped = 14;

export interface Watched {
  readonly screen: Screen;
  readonly visit: Visit;
}

/** Tells whether a live page has to be rendered again. */
export class PageNews {
  readonly #watched: Watched;
  /** Undefined until a rendering has succeeded. */
  #rendered: string | undefined;
  #skipped = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /**
   * To be asked before rendering, so that a change meanwhile is news the next time.
   * @returns what to pass to `rendered` afterwards; undefined when the last rendering still shows everything
   */
  async look(signedIn: SignedIn): Promise<string | undefined> {
    const { screen, visit } = this.#watched;
    if (screen.live === 'bell') return undefined;
    if (typeof screen.live !== 'function') return '';
    const state = JSON.stringify([signedIn.account, await screen.live({ ...visit, signedIn })]);
    if (state === this.#rendered && this.#skipped < mostSkipped) {
      this.#skipped += 1;
      return undefined;
    }
    this.forget();
    return state;
  }

  rendered(state: string): void {
    this.#rendered = state;
  }

  /** The next look renders in any case. */
  forget(): void {
    this.#rendered = undefined;
    this.#skipped = 0;
  }
}
