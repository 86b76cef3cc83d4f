import { keepAliveMs } from './edge-limits.ts';
import type { ServedForm } from './served-file.ts';

/**
 * The used part of a response. The fields of its head are not documented: one that is set and counts as sent lets `end`
 * send nothing in front of the content. Without them a response gets its head by `writeHead`, which takes more time.
 */
interface Response {
  readonly shouldKeepAlive: boolean;
  _header?: string | null;
  _headerSent?: boolean;
  end(piece: Uint8Array): unknown;
}

/** Of every date (RFC 9110, section 5.6.7). */
const dateLength = 29;
const connection = `Connection: keep-alive\r\nKeep-Alive: timeout=${String(keepAliveMs / 1000)}\r\n\r\n`;

/**
 * A form in memory, behind the head of its HTTP/1.1 answer: both are sent as one piece, without putting headers
 * together and copying the content behind them.
 */
export class ReadyAnswer {
  readonly headers: readonly string[];
  readonly content: Buffer;
  readonly #whole: Buffer;
  readonly #dateAt: number;
  #second = -1;

  constructor({ headers }: ServedForm, content: Uint8Array) {
    this.headers = headers;
    const beforeDate = `HTTP/1.1 200 OK\r\n${linesOf(headers)}Date: `;
    const head = Buffer.from(`${beforeDate}${' '.repeat(dateLength)}\r\n${connection}`, 'latin1');
    this.#dateAt = beforeDate.length;
    // Not of the pool that Node shares out: a small piece would keep a large one from being freed.
    this.#whole = Buffer.allocUnsafeSlow(head.length + content.length);
    head.copy(this.#whole);
    this.#whole.set(content, head.length);
    this.content = this.#whole.subarray(head.length);
  }

  /** In memory. */
  get bytes(): number {
    return this.#whole.length;
  }

  /** Answers 200 with all of it. @returns false when the answer needs another head */
  end(response: Response): boolean {
    // Over HTTP/2, and where the client closes the connection, other headers are sent.
    const isPlain = response.shouldKeepAlive && response._header === null;
    if (!isPlain || response._headerSent !== false) return false;
    response._header = 'sent with the content';
    response._headerSent = true;
    response.end(this.#dated());
    return true;
  }

  /** Only the date ever changes, so a piece that is still being sent may get a newer one. */
  #dated(): Buffer {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#whole.write(new Date(1000 * second).toUTCString(), this.#dateAt, 'latin1');
    }
    return this.#whole;
  }
}

const linesOf = (headers: readonly string[]): string => {
  let lines = '';
  for (let at = 0; at < headers.length; at += 2) {
    lines += `${headers[at] ?? ''}: ${headers[at + 1] ?? ''}\r\n`;
  }
  return lines;
};
