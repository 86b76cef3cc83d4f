import pTimeout from 'p-timeout';
import { nameServerLimits } from './limits.ts';
import type { Values } from './zone.ts';
import type { Transport } from './query.ts';

export interface LookupPorts {
  readonly find: (labels: readonly string[]) => Promise<ReadonlyMap<string, readonly string[]>>;
  readonly deadlineMs?: number;
}

const mostTogether = 200;
const mostOverTcp = mostTogether / 2;
/** The limits are separate, so that forged UDP senders cannot block TCP. */
const mostWaiting = { udp: 2_000, tcp: nameServerLimits.connections } as const;

type Answered = (values: Values) => void;

class Waiting {
  readonly #askers = new Map<string, Answered[]>();
  count = 0;

  add(label: string, answered: Answered): void {
    const others = this.#askers.get(label);
    if (others) others.push(answered);
    else this.#askers.set(label, [answered]);
    this.count += 1;
  }

  take(most: number): readonly (readonly [string, readonly Answered[]])[] {
    const taken = [...this.#askers].slice(0, most);
    for (const [label, askers] of taken) {
      this.#askers.delete(label);
      this.count -= askers.length;
    }
    return taken;
  }
}

export class ValueLookup {
  readonly #ports: LookupPorts;
  readonly #waiting = { udp: new Waiting(), tcp: new Waiting() };
  #isReading = false;
  failed = 0;

  constructor(ports: LookupPorts) {
    this.#ports = ports;
  }

  get isCrowded(): boolean {
    return this.#waiting.udp.count >= mostWaiting.udp;
  }

  /** Never throws. @returns 'unknown' if the database is unavailable or too many questions wait */
  valuesOf(label: string, transport: Transport): Promise<Values> {
    const waiting = this.#waiting[transport];
    if (waiting.count >= mostWaiting[transport]) {
      this.failed += 1;
      return Promise.resolve('unknown');
    }
    return new Promise((answered) => {
      waiting.add(label, answered);
      if (!this.#isReading) void this.#read();
    });
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    await Promise.resolve();
    for (let taken = this.#take(); taken.length > 0; taken = this.#take()) {
      const found = await this.#find([...new Set(taken.map(([label]) => label))]);
      for (const [label, askers] of taken) {
        this.#tell(askers, found === 'unknown' ? found : (found.get(label) ?? []));
      }
    }
    this.#isReading = false;
  }

  #take() {
    const first = this.#waiting.tcp.take(mostOverTcp);
    return [...first, ...this.#waiting.udp.take(mostTogether - first.length)];
  }

  #tell(askers: readonly Answered[], values: Values): void {
    if (values === 'unknown') this.failed += askers.length;
    for (const answered of askers) answered(values);
  }

  #find(labels: readonly string[]): Promise<ReadonlyMap<string, readonly string[]> | 'unknown'> {
    const { find, deadlineMs: milliseconds = 1_500 } = this.#ports;
    const unknown = () => 'unknown' as const;
    return pTimeout(find(labels), { milliseconds, fallback: unknown }).catch(unknown);
  }
}
