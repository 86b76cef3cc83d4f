import { PassThrough } from 'node:stream';
import type { SignedIn } from '../../../access/people-ports.ts';

const heartbeatMs = 15_000;
/** A viewer that reads nothing for this many heartbeats is disconnected. */
const mostMissed = 4;
/** When the stream ends, a viewer that is behind has this long to read the rest. */
const longestEndMs = 1000;
/** Browsers reconnect after this long, at random, so that they do not all reconnect at once. */
const reconnectMs = { least: 3000, spread: 4000 } as const;

export const overEvent = 'event: over\ndata: \n\n';

export interface ViewerPorts {
  readonly lookUp: () => Promise<SignedIn | undefined>;
  readonly newId: () => string;
  readonly chance: () => number;
}

/** Sends a live page to one viewer over server-sent events (HTML standard, section 9.2). */
export class LiveViewer {
  readonly stream = new PassThrough();
  readonly signedIn: SignedIn;
  readonly #ports: ViewerPorts;
  #shown = '';
  #rung = '';
  #newest: LiveFrame | undefined;

  constructor(signedIn: SignedIn, ports: ViewerPorts) {
    this.signedIn = signedIn;
    this.#ports = ports;
    const heart = setInterval(this.#beat(), heartbeatMs);
    this.stream.once('close', () => {
      clearInterval(heart);
    });
    this.stream.on('drain', () => {
      if (this.#newest) this.show(this.#newest);
    });
    const retryMs = reconnectMs.least + ports.chance() * reconnectMs.spread;
    this.stream.write(`retry: ${Math.round(retryMs)}\n\n`);
  }

  lookUp(): Promise<SignedIn | undefined> {
    return this.#ports.lookUp();
  }

  /** Sends only the latest state to a slow reader, and buffers nothing else. */
  show(frame: LiveFrame): void {
    this.#newest = undefined;
    if (frame.news === this.#shown || this.stream.writableEnded) return;
    if (this.stream.writableNeedDrain) {
      this.#newest = frame;
      return;
    }
    this.#shown = frame.news;
    this.stream.write(pageEvent(frame, this.#ports.newId));
  }

  ring(bell: string): void {
    if (bell === this.#rung || this.stream.writableNeedDrain || this.stream.writableEnded) return;
    this.#rung = bell;
    this.stream.write(`event: bell\ndata: ${JSON.stringify(bell)}\n\n`);
  }

  over(): void {
    this.end(overEvent);
  }

  later(seconds: number): void {
    this.end(`event: later\ndata: ${Math.round(seconds * (1 + this.#ports.chance()))}\n\n`);
  }

  end(last = ''): void {
    const { stream } = this;
    if (stream.writableEnded) return;
    // This includes a new viewer, who has not received the headers and the page yet.
    const isBehind = stream.writableNeedDrain;
    stream.end(last);
    if (!isBehind) return;
    const cut = setTimeout(() => stream.destroy(), longestEndMs).unref();
    stream.once('close', () => {
      clearTimeout(cut);
    });
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

export interface LiveFrame {
  /** The frame without the parts that differ in each rendering, so that frames with equal content are equal. */
  readonly news: string;
  /** The markup as JSON text, split where each viewer gets their own id. */
  readonly parts: readonly string[];
}

export const frameOf = (markup: string): LiveFrame => ({
  news: newsIn(markup),
  parts: markup.split(onceValue).map((part) => JSON.stringify(part).slice(1, -1)),
});

const pageEvent = ({ parts }: LiveFrame, newId: () => string): string => {
  const [first = '', ...rest] = parts;
  return `event: page\ndata: "${rest.reduce((text, part) => text + newId() + part, first)}"\n\n`;
};

const onceValue = /(?<=name="once" value=")[^"]*/;

const newsIn = (markup: string): string =>
  markup
    .replace(/(<time [^>]*data-relative>)[^<]*/g, '$1')
    .replace(/(name="once" value=")[^"]*/g, '$1');
