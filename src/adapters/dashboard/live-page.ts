import type { SignedIn } from '../../access/people-ports.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { mainOf } from './layout.ts';
import { frameOf, type LiveFrame } from './live-frame.ts';
import type { LiveViewer } from './live-viewer.ts';
import { problemOf } from './page-problem.ts';
import { pathOf, type Screen, type Visit } from './screen.ts';

/** What other processes store is looked for so often; what this one stores for the account shows at once. */
const pollMs = 2000;
/** Many changes in a row are one, and so are many who come. */
const pauseMs = 200;

export interface Watched {
  readonly screen: Screen;
  readonly visit: Visit;
}

export interface PagePorts extends Pick<DashboardPorts, 'clock' | 'log'> {
  /** Waits until it is this page's turn to be made. */
  readonly inTurn: (make: () => Promise<void>) => Promise<void>;
  readonly onEmpty: () => void;
}

/** A page of one account. It is made once for all who look at it, and sent to those who have not seen it so. */
export class LivePage {
  readonly #watched: Watched;
  readonly #ports: PagePorts;
  readonly #viewers = new Set<LiveViewer>();
  readonly #poll: NodeJS.Timeout;
  #planned: NodeJS.Timeout | undefined;
  #isLooking = false;
  #coming = 0;

  constructor(watched: Watched, ports: PagePorts) {
    this.#watched = watched;
    this.#ports = ports;
    this.#poll = setInterval(() => {
      if (this.#planned === undefined) void this.#look();
    }, pollMs);
  }

  get accountId(): string {
    return this.#watched.visit.accountId;
  }

  /** @throws whatever the screen throws, for whoever comes first and finds that there is no such page */
  first(): Promise<LiveFrame> {
    return this.#make(this.#watched.visit.signedIn);
  }

  /** @param frame as the page was made for this viewer, if it was; else it is made soon */
  join(viewer: LiveViewer, frame?: LiveFrame): void {
    this.#viewers.add(viewer);
    viewer.stream.once('close', () => {
      this.#viewers.delete(viewer);
      this.#endIfUnseen();
    });
    if (frame) viewer.show(frame);
    else this.soon();
  }

  /** Somebody is on the way here. @returns says that they have joined, or are gone */
  hold(): () => void {
    this.#coming += 1;
    return () => {
      this.#coming -= 1;
      this.#endIfUnseen();
    };
  }

  #endIfUnseen(): void {
    if (this.#viewers.size + this.#coming > 0) return;
    clearInterval(this.#poll);
    clearTimeout(this.#planned);
    this.#ports.onEmpty();
  }

  /** Something changed, or somebody came. */
  soon(): void {
    this.#planned ??= setTimeout(() => {
      this.#planned = undefined;
      // A page that is being made may have been begun before the change.
      if (this.#isLooking) this.soon();
      else void this.#look();
    }, pauseMs);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#ports.inTurn(() => this.#show());
    } catch (error) {
      if (problemOf(error).status === 404) for (const viewer of this.#viewers) viewer.over();
      else this.#ports.log.debug({ err: error }, 'live page not shown; will retry');
    } finally {
      this.#isLooking = false;
    }
  }

  async #show(): Promise<void> {
    const signedIn = await this.#whoIsStillThere();
    if (!signedIn) return;
    const frame = await this.#make(signedIn);
    for (const viewer of this.#viewers) viewer.show(frame);
  }

  /** Ends what is seen by sessions that are over. @returns one of those that are not */
  async #whoIsStillThere(): Promise<SignedIn | undefined> {
    let someone: SignedIn | undefined;
    for (const [, viewers] of Map.groupBy(this.#viewers, ({ sessionId }) => sessionId)) {
      const signedIn = await viewers[0]?.lookUp();
      if (signedIn?.account.id === this.accountId) someone = signedIn;
      else for (const viewer of viewers) viewer.over();
    }
    return someone;
  }

  /** As the account is now: its plan may be another one than when the page was opened. */
  async #make(signedIn: SignedIn): Promise<LiveFrame> {
    const { screen, visit } = this.#watched;
    const now = this.#ports.clock.now();
    const { content } = await screen.show({ ...visit, signedIn, now });
    return frameOf(mainOf(content, { live: pathOf(screen, visit) }).toString());
  }
}
