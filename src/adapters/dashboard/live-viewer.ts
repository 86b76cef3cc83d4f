import { PassThrough } from 'node:stream';
import type { SignedIn } from '../../access/people-ports.ts';
import { pageEvent, type LiveFrame } from './live-frame.ts';

const heartbeatMs = 15_000;
/** Who has taken nothing for so many heartbeats is gone, or wants to be waited for. */
const mostMissed = 4;
/** A connection that breaks is opened again after so long; not all in the same moment. */
const reconnectMs = { least: 3000, spread: 4000 } as const;

/** Nothing more comes: the page itself says why, when the browser asks for it again. */
export const overEvent = 'event: over\ndata: \n\n';

export interface ViewerPorts {
  /** @returns undefined once the session is over */
  readonly lookUp: () => Promise<SignedIn | undefined>;
  readonly newId: () => string;
  /** 0 to below 1. */
  readonly chance: () => number;
}

/** One who looks at a live page: server-sent events (HTML standard, section 9.2). */
export class LiveViewer {
  readonly stream = new PassThrough();
  readonly accountId: string;
  readonly sessionId: string;
  readonly lookUp: ViewerPorts['lookUp'];
  readonly #newId: ViewerPorts['newId'];
  readonly #chance: ViewerPorts['chance'];
  #shown = '';
  #newest: LiveFrame | undefined;

  constructor({ account, session }: SignedIn, { lookUp, newId, chance }: ViewerPorts) {
    this.accountId = account.id;
    this.sessionId = session.id;
    this.lookUp = lookUp;
    this.#newId = newId;
    this.#chance = chance;
    const heart = setInterval(this.#beat(), heartbeatMs);
    this.stream.once('close', () => {
      clearInterval(heart);
    });
    this.stream.on('drain', () => {
      if (this.#newest) this.show(this.#newest);
    });
    this.stream.write(
      `retry: ${Math.round(reconnectMs.least + chance() * reconnectMs.spread)}\n\n`,
    );
  }

  /** Who reads slower than things change gets the last state only: nothing but that waits for them. */
  show(frame: LiveFrame): void {
    this.#newest = undefined;
    if (frame.news === this.#shown || this.stream.writableEnded) return;
    if (this.stream.writableNeedDrain) {
      this.#newest = frame;
      return;
    }
    this.#shown = frame.news;
    this.stream.write(pageEvent(frame, this.#newId));
  }

  over(): void {
    this.#end(overEvent);
  }

  /** Others come first. The browser asks again, after so long or a little longer. */
  later(seconds: number): void {
    this.#end(`event: later\ndata: ${Math.round(seconds * (1 + this.#chance()))}\n\n`);
  }

  /** The browser reconnects by itself, to any process. */
  end(): void {
    this.#end('');
  }

  #end(last: string): void {
    if (this.stream.writableNeedDrain) this.stream.destroy();
    else this.stream.end(last);
  }

  #beat(): () => void {
    let missed = 0;
    return () => {
      missed = this.stream.writableNeedDrain ? missed + 1 : 0;
      if (missed >= mostMissed) this.stream.destroy();
      else if (missed === 0 && !this.stream.writableEnded) this.stream.write(': still here\n\n');
    };
  }
}
