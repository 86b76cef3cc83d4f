import { PassThrough } from 'node:stream';
import type { Context } from 'koa';
import type { SignedIn } from '../../access/people-ports.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { mainOf } from './layout.ts';
import { problemOf } from './page-problem.ts';
import { pathOf, type Screen, type Visit } from './screen.ts';

/** What other processes store is looked for so often; what this one stores for the account shows at once. */
const pollMs = 2000;
/** Many changes in a row are one. */
const pauseMs = 150;
const heartbeatMs = 15_000;
/** Of one person: browsers open six at most. */
const mostOfOne = 12;
const mostOfAll = 500;

interface Watched {
  readonly screen: Screen;
  readonly visit: Visit;
}

export interface LivePorts extends Pick<DashboardPorts, 'clock' | 'log' | 'onStored'> {
  /** Whether somebody is still signed in. */
  readonly stillSignedIn: (signedIn: SignedIn) => Promise<boolean>;
}

/**
 * Pages that follow what happens: server-sent events (HTML standard, section 9.2) that carry the page anew whenever
 * it differs from what was sent last.
 */
export class LiveStreams {
  readonly #ports: LivePorts;
  readonly #open = new Map<PassThrough, string>();
  #isClosed = false;

  constructor(ports: LivePorts) {
    this.#ports = ports;
  }

  open(ctx: Context, watched: Watched): void {
    const { id } = watched.visit.signedIn.person;
    const ofOne = [...this.#open.values()].filter((one) => one === id).length;
    if (this.#isClosed || ofOne >= mostOfOne || this.#open.size >= mostOfAll) {
      // Whoever is told 204 does not ask again; the page works by reloading.
      ctx.status = 204;
      return;
    }
    const stream = new PassThrough();
    this.#open.set(stream, id);
    ctx.status = 200;
    ctx.type = 'text/event-stream; charset=utf-8';
    ctx.set({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    ctx.body = stream;
    this.#follow(stream, watched);
  }

  /** Ends all: a server that stops waits for nobody who only watches. */
  close(): void {
    this.#isClosed = true;
    for (const stream of this.#open.keys()) stream.end();
  }

  #follow(stream: PassThrough, watched: Watched): void {
    const { onStored, log } = this.#ports;
    let sent = '';
    let planned: NodeJS.Timeout | undefined;
    let looking = false;
    const look = async (): Promise<void> => {
      if (looking) return;
      looking = true;
      try {
        sent = await this.#send(stream, watched, sent);
      } catch (error) {
        if (problemOf(error).status === 404) over(stream);
        else log.debug({ err: error }, 'live page not shown, will be looked at again');
      } finally {
        looking = false;
      }
    };
    const soon = () => {
      planned ??= setTimeout(() => {
        planned = undefined;
        // A page that is being made may have been begun before the change.
        if (looking) soon();
        else void look();
      }, pauseMs);
    };
    const poll = setInterval(() => void look(), pollMs);
    const heartbeat = setInterval(() => stream.write(': still here\n\n'), heartbeatMs);
    const stop = onStored((accountIds) => {
      if (accountIds.includes(watched.visit.accountId)) soon();
    });
    stream.once('close', () => {
      clearInterval(poll);
      clearInterval(heartbeat);
      clearTimeout(planned);
      stop();
      this.#open.delete(stream);
    });
    stream.write('retry: 3000\n\n');
    void look();
  }

  /** @returns what the browser shows from now on, without what is no news */
  async #send(stream: PassThrough, { screen, visit }: Watched, sent: string): Promise<string> {
    const now = this.#ports.clock.now();
    if (!(await this.#ports.stillSignedIn(visit.signedIn))) {
      over(stream);
      return sent;
    }
    const { content } = await screen.show({ ...visit, now });
    const markup = mainOf(content, { live: pathOf(screen, visit) }).toString();
    const news = newsIn(markup);
    if (news === sent || stream.writableEnded) return sent;
    // Who reads slower than things change gets the last state only.
    if (stream.writableNeedDrain) return sent;
    stream.write(`event: page\ndata: ${JSON.stringify(markup)}\n\n`);
    return news;
  }
}

/** Nothing more comes: the page itself says why, when the browser asks for it again. */
const over = (stream: PassThrough): void => {
  stream.end('event: over\ndata: \n\n');
};

/** Without what differs each time that a page is made, and the words for times, which the browser keeps up to date. */
const newsIn = (markup: string): string =>
  markup
    .replace(/(<time [^>]*data-relative>)[^<]*/g, '$1')
    .replace(/(name="once" value=")[^"]*/g, '$1');
