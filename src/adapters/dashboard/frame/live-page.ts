import type { Role } from '../../../access/domain/role.ts';
import type { SignedIn } from '../../../access/people-ports.ts';
import type { DashboardPorts } from '../ports.ts';
import { bell, mainOf, readerOf } from './layout.ts';
import { frameOf, type LiveFrame, type LiveViewer } from './live-viewer.ts';
import { problemOf } from './page-problem.ts';
import { pathOf, type Screen, type Visit } from './screen.ts';

export interface Watched {
  readonly screen: Screen;
  readonly visit: Visit;
}

const pollMs = { page: 2000, bell: 5000 } as const;
/** The other polls only look at the viewers' sessions and notices, which costs less than a rendering. */
const pollsPerRendering = { often: 1, seldom: 5 } as const;
const pauseMs = 200;

export interface PagePorts extends Pick<DashboardPorts, 'clock' | 'log' | 'notifications'> {
  readonly inTurn: (make: () => Promise<void>) => Promise<void>;
  readonly onEmpty: () => void;
}

/** A page of one account, rendered once for all viewers and sent to those with an outdated copy. */
export class LivePage {
  readonly #watched: Watched;
  readonly #ports: PagePorts;
  readonly #viewers = new Set<LiveViewer>();
  readonly #poll: NodeJS.Timeout;
  #pollsToSkip = 0;
  #planned: NodeJS.Timeout | undefined;
  #isLooking = false;
  #coming = 0;

  constructor(watched: Watched, ports: PagePorts) {
    this.#watched = watched;
    this.#ports = ports;
    this.#poll = setInterval(
      () => {
        if (this.#planned === undefined) void this.#look();
      },
      pollMs[watched.screen.live === 'bell' ? 'bell' : 'page'],
    );
  }

  get accountId(): string {
    return this.#watched.visit.accountId;
  }

  get #role(): Role {
    return this.#watched.visit.signedIn.person.role;
  }

  /** @returns undefined if only the bell is live @throws any error of the screen, for example when the page does not exist */
  async first(): Promise<LiveFrame | undefined> {
    const { screen, visit } = this.#watched;
    return screen.live === 'bell' ? undefined : this.#make(visit.signedIn);
  }

  /** @param frame the page as rendered for this viewer, if it was; otherwise it is rendered soon */
  join(viewer: LiveViewer, frame?: LiveFrame): void {
    this.#viewers.add(viewer);
    viewer.stream.once('close', () => {
      this.#viewers.delete(viewer);
      this.#endIfUnseen();
    });
    if (frame) viewer.show(frame);
    else this.soon();
  }

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

  soon(): void {
    this.#planned ??= setTimeout(() => {
      this.#planned = undefined;
      // A rendering in progress may have started before the change.
      if (this.#isLooking) {
        this.soon();
        return;
      }
      this.#pollsToSkip = 0;
      void this.#look();
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
    const { live } = this.#watched.screen;
    const signedIn = await this.#whoIsStillThere();
    if (!signedIn || live === 'bell' || live === false) return;
    if (this.#pollsToSkip > 0) {
      this.#pollsToSkip -= 1;
      return;
    }
    const frame = await this.#make(signedIn);
    this.#pollsToSkip = pollsPerRendering[live] - 1;
    for (const viewer of this.#viewers) viewer.show(frame);
  }

  /**
   * Disconnects viewers whose session has ended or whose role has changed, because another role sees other controls.
   * @returns a signed-in person who remains
   */
  async #whoIsStillThere(): Promise<SignedIn | undefined> {
    let someone: SignedIn | undefined;
    for (const [, viewers] of Map.groupBy(this.#viewers, ({ signedIn }) => signedIn.session.id)) {
      const signedIn = await viewers[0]?.lookUp();
      if (signedIn?.account.id !== this.accountId || signedIn.person.role !== this.#role) {
        for (const viewer of viewers) viewer.over();
        continue;
      }
      someone = signedIn;
      const rung = await this.#bellFor(signedIn);
      for (const viewer of viewers) viewer.ring(rung);
    }
    return someone;
  }

  /** The number of unread notices differs for each person, but the page is the same for all. */
  async #bellFor(signedIn: SignedIn): Promise<string> {
    const unread = await this.#ports.notifications.countUnread(readerOf(signedIn));
    return bell(unread).toString();
  }

  async #make(signedIn: SignedIn): Promise<LiveFrame> {
    const { screen, visit } = this.#watched;
    const now = this.#ports.clock.now();
    const { content } = await screen.show({ ...visit, signedIn, now });
    return frameOf(mainOf(content, { live: pathOf(screen, visit) }).toString());
  }
}
