import { randomInt } from 'node:crypto';

const places = 0x1_0000;

export interface RateOptions {
  /** Answers a second to one network. */
  readonly perSecond: number;
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number;
}

/**
 * Counts answers by network, in a table of fixed size: forged senders cannot fill it. Two networks may share a place,
 * and nobody outside can tell which; then each gets a part, and asks again over TCP.
 */
export class AnswerRate {
  readonly #counts = new Uint32Array(places);
  readonly #seed = randomInt(2 ** 31);
  readonly #perSecond: number;
  readonly #elapsed: () => number;
  #second = -1;

  constructor({ perSecond, elapsed = () => performance.now() }: RateOptions) {
    this.#perSecond = perSecond;
    this.#elapsed = elapsed;
  }

  /** Counts one answer. @returns false when the network has had all of this second */
  take(network: string): boolean {
    const second = Math.floor(this.#elapsed() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#counts.fill(0);
    }
    const place = this.#placeOf(network);
    const count = this.#counts[place] ?? 0;
    if (count >= this.#perSecond) return false;
    this.#counts[place] = count + 1;
    return true;
  }

  /** FNV-1a, from a start that is secret. */
  #placeOf(network: string): number {
    let hash = 0x811c_9dc5 ^ this.#seed;
    for (let at = 0; at < network.length; at++) {
      hash = Math.imul(hash ^ network.charCodeAt(at), 0x0100_0193);
    }
    return (hash ^ (hash >>> 16)) & (places - 1);
  }
}
