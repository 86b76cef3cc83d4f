import type { Transport } from './sockets.ts';
import { plainName, type RecordType } from './zone.ts';

/** What goes wrong with a question, the first `times` times or for ever. */
export interface DnsFault {
  readonly rcode?: 'FORMERR' | 'SERVFAIL' | 'NXDOMAIN' | 'NOTIMP' | 'REFUSED';
  /** No answer at all. */
  readonly drop?: boolean;
  readonly delayMs?: number;
  /** Over UDP the answer is empty and says that it was cut; over TCP it is whole. */
  readonly truncate?: boolean;
  /** The answer has the number of another question. */
  readonly badId?: boolean;
  /** These bytes are sent, whatever the zone has; nothing when there are none. */
  readonly raw?: (query: Buffer, transport: Transport) => Buffer | undefined;
  /** Only questions of these types. */
  readonly types?: readonly RecordType[];
  readonly times?: number;
}

/** By exact name, `*.suffix` for all names below it, or `*` for all; the closest one counts. */
export type DnsFaults = Readonly<Record<string, DnsFault>>;

export class FaultList {
  readonly #faults: ReadonlyMap<string, { readonly fault: DnsFault; left: number }>;

  constructor(faults: DnsFaults) {
    this.#faults = new Map(
      Object.entries(faults).map(([name, fault]) => [
        plainName(name),
        { fault, left: fault.times ?? Infinity },
      ]),
    );
  }

  /** Uses up one of its times. */
  take(name: string, type: string): DnsFault {
    const labels = plainName(name).split('.');
    const suffixes = labels.map((_, at) => ['*', ...labels.slice(at + 1)].join('.'));
    for (const pattern of [plainName(name), ...suffixes]) {
      const entry = this.#faults.get(pattern);
      if (!entry || entry.left === 0 || !applies(entry.fault, type)) continue;
      entry.left -= 1;
      return entry.fault;
    }
    return {};
  }
}

const applies = ({ types }: DnsFault, type: string): boolean =>
  types === undefined || types.some((its) => its === type);
