const kib = 1024;
const mib = 1024 * kib;

/** Limits for what visitors may hold at once. A network is an IPv4 address, or the /64 of an IPv6 address. */
export const edgeLimits = {
  connectionsOfNetwork: 256,
  /** Limit of each of the two ports. With the API's connections, this stays below 20 000 file descriptors. */
  connections: 7_500,
  answersOfNetwork: 1_000,
  answers: 10_000,
  bytesOfNetwork: 32 * mib,
  bytes: 256 * mib,
  /** Concurrent requests on one connection, including pipelined HTTP/1.1 requests. */
  answersOfConnection: 100,
  /** PINGs, SETTINGS and refused requests on one HTTP/2 connection without progress. */
  idleFrames: 100,
  stalledAnswerMs: 20_000,
  /** An HTTP/2 connection without progress closes after this time, even if other frames arrive. */
  idleSessionMs: 60_000,
  endingSessionMs: 5_000,
  stillAnswerMs: 2_000,
} as const;

export type EdgeLimits = Readonly<Record<keyof typeof edgeLimits, number>>;

export const visitorTimes = {
  handshakeMs: 10_000,
  headersMs: 5_000,
  requestMs: 10_000,
  silenceMs: 60_000,
} as const;

export const keepAliveMs = 15_000;

export const pieceBytes = 64 * kib;

export interface NetworkUsage {
  answers: number;
  bytes: number;
}

export class NetworkUsages {
  readonly #networks = new Map<string, { readonly usage: NetworkUsage; connections: number }>();
  readonly all: NetworkUsage = { answers: 0, bytes: 0 };

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
