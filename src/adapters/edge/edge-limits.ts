const kib = 1024;
const mib = 1024 * kib;

/** What visitors may hold of an edge at once. A network is an IPv4 address, or the /64 network of an IPv6 address. */
export const edgeLimits = {
  connectionsOfNetwork: 256,
  /** To each of the two ports: with those of the API fewer than the 20 000 descriptors that a process usually may have. */
  connections: 7_500,
  /** Requests whose answers have not been taken whole. */
  answersOfNetwork: 1_000,
  answers: 10_000,
  /** Bytes of answers that were made ready for visitors and that they have not taken. */
  bytesOfNetwork: 32 * mib,
  bytes: 256 * mib,
  /** Requests at once on one connection, over HTTP/1.1 sent ahead. */
  answersOfConnection: 100,
  /** PINGs and SETTINGS, or refused requests, on one HTTP/2 connection before anything useful happens. */
  idleFrames: 100,
  /** Without progress an answer is given up then. */
  stalledAnswerMs: 20_000,
  /** Without an answer that makes progress an HTTP/2 connection ends then, whatever else moves on it. */
  idleSessionMs: 60_000,
} as const;

export type EdgeLimits = Readonly<Record<keyof typeof edgeLimits, number>>;

/** An answer holds no more memory than that; larger ones are sent piece by piece. */
export const pieceBytes = 64 * kib;
