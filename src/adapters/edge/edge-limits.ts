const kib = 1024;
const mib = 1024 * kib;

/** What visitors may hold of an edge at once. A network is an IPv4 address, or the /64 network of an IPv6 address. */
export const edgeLimits = {
  connectionsOfNetwork: 256,
  /** To each of the two ports: with those of the API fewer than the 20 000 descriptors that a process usually may have. */
  connections: 7_500,
  /** Requests whose answers are not fully sent. */
  answersOfNetwork: 1_000,
  answers: 10_000,
  /** Buffered bytes of answers that visitors have not received. */
  bytesOfNetwork: 32 * mib,
  bytes: 256 * mib,
  /** Requests at once on one connection, over HTTP/1.1 sent ahead. */
  answersOfConnection: 100,
  /** PINGs and SETTINGS, or refused requests, on one HTTP/2 connection before anything useful happens. */
  idleFrames: 100,
  /** An answer without progress is given up after this time. */
  stalledAnswerMs: 20_000,
  /** An HTTP/2 connection without progress of any answer ends after this time, even if other frames arrive. */
  idleSessionMs: 60_000,
  /** For its end, once it was asked to. */
  endingSessionMs: 5_000,
  /** An answer that stalled for this long may be ended to make room for others. */
  stillAnswerMs: 2_000,
} as const;

export type EdgeLimits = Readonly<Record<keyof typeof edgeLimits, number>>;

/** How long a visitor may take, and how long a connection may be silent. */
export const visitorTimes = {
  handshakeMs: 10_000,
  headersMs: 5_000,
  requestMs: 10_000,
  silenceMs: 60_000,
} as const;

/** Answers promise that a quiet connection stays open for so long. */
export const keepAliveMs = 15_000;

/** Most memory of one answer; larger ones are sent in pieces. */
export const pieceBytes = 64 * kib;

export interface NetworkUsage {
  answers: number;
  bytes: number;
}

/** Counts what each network holds. A network without connections is forgotten. */
export class NetworkUsages {
  readonly #networks = new Map<string, { readonly usage: NetworkUsage; connections: number }>();
  readonly all: NetworkUsage = { answers: 0, bytes: 0 };

  /** For a new connection; `left` takes it back. */
  joined(network: string): NetworkUsage {
    const known = this.#networks.get(network) ?? {
      usage: { answers: 0, bytes: 0 },
      connections: 0,
    };
    known.connections += 1;
    this.#networks.set(network, known);
    return known.usage;
  }

  left(network: string): void {
    const known = this.#networks.get(network);
    if (!known) return;
    known.connections -= 1;
    if (known.connections === 0) this.#networks.delete(network);
  }

  connectionsOf(network: string): number {
    return this.#networks.get(network)?.connections ?? 0;
  }
}
