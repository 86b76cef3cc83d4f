import { constants, type ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Held } from './held.ts';

/** A coarse clock for timeouts, updated once a second. */
export interface Ticks {
  now: number;
}

export interface UnderWay {
  readonly bytes: number;
  /** Since when the visitor has taken nothing of it; undefined while it waits for us. */
  readonly stalledSince: number | undefined;
  /** Stops sending. The visitor sees that the answer is incomplete. */
  cut(): void;
  /** The visitor has received all of it, or has disconnected. */
  finish(): void;
}

/** One connection from outside, and whether anything moves on it. */
export class Line {
  readonly socket: Socket;
  /** Among the open connections. */
  at = 0;
  /** The name whose certificate it got: a host, or the wildcard that covers it. */
  servedAs: string | undefined;
  /** The socket over TLS, and the host that it is for, after a handshake. */
  secure: Socket | undefined;
  host: string | undefined;
  /** By the network that it comes from. */
  readonly held: Held;
  readonly answers = new Set<UnderWay>();
  /** It has carried a request. */
  isUsed = false;
  /** Once it turns out to be HTTP/2. */
  session: ServerHttp2Session | undefined;
  /** When the visitor last sent a request or received a part of an answer. */
  progressAt: number;
  /** When the system last took bytes for it; counts only while it is full. */
  movedAt: number;
  /** When it was last seen full. */
  fullAt = -Infinity;
  readonly #ticks: Ticks;
  #queued = 0;
  /** PINGs, SETTINGS and refused requests since the last progress. */
  #idleFrames = 0;

  constructor(socket: Socket, held: Held, ticks: Ticks) {
    this.socket = socket;
    this.held = held;
    this.#ticks = ticks;
    this.progressAt = this.movedAt = ticks.now;
  }

  /** Whether the visitor's network, or its system, takes less than we have to send. */
  get isFull(): boolean {
    return this.#queued > 0;
  }

  /** Call it regularly: Node does not report when the system accepts a part of the written bytes. */
  look(): void {
    const queued = queuedBytes(this.socket);
    if (queued !== this.#queued) this.movedAt = this.#ticks.now;
    this.#queued = queued;
    if (queued > 0) this.fullAt = this.#ticks.now;
  }

  madeProgress(): void {
    this.progressAt = this.movedAt = this.#ticks.now;
    this.#idleFrames = 0;
  }

  /** Counts useless frames: more than `most` of them end an HTTP/2 connection, with the reason. */
  countIdleFrame(most: number): void {
    this.#idleFrames += 1;
    const { session } = this;
    if (this.#idleFrames <= most || !session || session.destroyed) return;
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  }
}

/**
 * Bytes that the system has not accepted yet, including encrypted ones. Uses an undocumented property. Without it no
 * line would look full: HTTP/1.1 would lose its limit of 20 seconds, HTTP/2 would count only whole slices.
 */
const queuedBytes = (socket: Socket): number => {
  const { _handle: handle } = socket as { _handle?: { readonly writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
};
