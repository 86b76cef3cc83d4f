import type { Context } from 'koa';
import PQueue from 'p-queue';
import type { SignedIn } from '../../../access/people-ports.ts';
import { sendEvents } from './responses.ts';
import type { DashboardPorts } from '../ports.ts';
import { LivePage, type Watched } from './live-page.ts';
import { type LiveFrame, LiveViewer } from './live-viewer.ts';
import { pathOf } from './screen.ts';

/** Beyond these limits the oldest stream closes, because the newest page is the one being viewed. */
export const mostStreams = { session: 10, account: 50, process: 1000 } as const;
const seconds = 60;
const [turnsAtOnce, longestRestMs] = [2, 50];

export interface LivePorts extends Pick<
  DashboardPorts,
  'clock' | 'ids' | 'log' | 'onStored' | 'notifications'
> {
  /** Each rendering has its own deadline, because it serves all viewers. */
  readonly deadline: DashboardPorts['deadline'];
  readonly whoStillAsks: (ctx: Context) => () => Promise<SignedIn | undefined>;
  readonly chance: () => number;
}

interface KnownPage {
  readonly page: LivePage;
  readonly first: Promise<LiveFrame | undefined>;
}

export class LiveStreams {
  readonly #ports: LivePorts;
  readonly #pages = new Map<string, KnownPage>();
  readonly #viewers = new Set<LiveViewer>();
  readonly #turns = new PQueue({ concurrency: turnsAtOnce });
  readonly #stopListening: () => void;
  #isClosed = false;

  constructor(ports: LivePorts) {
    this.#ports = ports;
    this.#stopListening = ports.onStored((accountIds) => {
      for (const { page } of this.#pages.values())
        if (accountIds.includes(page.accountId)) page.soon();
    });
  }

  /** @throws any error of the screen, for example when the page does not exist */
  async open(ctx: Context, watched: Watched): Promise<void> {
    if (this.#isClosed) {
      ctx.set('Retry-After', String(seconds));
      ctx.status = 503;
      return;
    }
    const key = keyOf(watched);
    const known = this.#pages.get(key);
    const { page, first } = known ?? this.#begin(key, watched);
    const letGo = page.hold();
    try {
      const frame = await first;
      if (ctx.res.closed) return;
      const viewer = this.#admit(watched.visit.signedIn, ctx);
      sendEvents(ctx, viewer.stream);
      page.join(viewer, known ? undefined : frame);
    } finally {
      letGo();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#stopListening();
    for (const viewer of this.#viewers) viewer.end();
  }

  #begin(key: string, watched: Watched): KnownPage {
    const { clock, log, notifications } = this.#ports;
    const onEmpty = () => {
      if (this.#pages.get(key)?.page === page) this.#pages.delete(key);
    };
    const inTurn = (make: () => Promise<void>) => this.#inTurn(make);
    const page = new LivePage(watched, { clock, log, notifications, onEmpty, inTurn });
    const known = { page, first: this.#inTurn(() => page.first()) };
    this.#pages.set(key, known);
    return known;
  }

  async #inTurn<T>(make: () => Promise<T>): Promise<T> {
    const done = Promise.withResolvers<T>();
    void this.#turns.add(async () => {
      const started = performance.now();
      const made = this.#ports.deadline.during(make);
      done.resolve(made);
      await made.catch(() => undefined);
      const tookMs = performance.now() - started;
      await new Promise((resolve) => setTimeout(resolve, Math.min(tookMs, longestRestMs)));
    });
    return done.promise;
  }

  #admit(signedIn: SignedIn, ctx: Context): LiveViewer {
    this.#makeRoom(signedIn);
    const { ids, chance, whoStillAsks } = this.#ports;
    const newId = () => ids.next('form');
    const viewer = new LiveViewer(signedIn, { lookUp: whoStillAsks(ctx), newId, chance });
    this.#viewers.add(viewer);
    viewer.stream.once('finish', () => this.#viewers.delete(viewer));
    viewer.stream.once('close', () => this.#viewers.delete(viewer));
    return viewer;
  }

  /**
   * Closes one stream if there is no room. Its place counts as free immediately, so that each new stream closes a
   * different one.
   */
  #makeRoom(signedIn: SignedIn): void {
    const leaving = this.#leaving(signedIn);
    if (!leaving) return;
    this.#viewers.delete(leaving);
    leaving.later(seconds);
  }

  /**
   * Picks the stream to close for a new one of that session. If the process is full, it belongs to the account with the
   * most streams.
   */
  #leaving({ session, account }: SignedIn): LiveViewer | undefined {
    const all = [...this.#viewers];
    const ofSession = all.filter(({ signedIn }) => signedIn.session.id === session.id);
    if (ofSession.length >= mostStreams.session) return ofSession[0];
    const ofAccount = all.filter(({ signedIn }) => signedIn.account.id === account.id);
    if (ofAccount.length >= mostStreams.account) return ofAccount[0];
    if (all.length < mostStreams.process) return undefined;
    const accounts = [...Map.groupBy(all, ({ signedIn }) => signedIn.account.id).values()];
    return accounts.reduce((most, one) => (one.length > most.length ? one : most))[0];
  }
}

const keyOf = ({ screen, visit }: Watched): string =>
  JSON.stringify([
    visit.accountId,
    visit.signedIn.person.role,
    pathOf(screen, visit),
    visit.query.toString(),
  ]);
