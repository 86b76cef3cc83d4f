/** What askers may hold of a name server. A network is the /24 of an IPv4 address, or the /56 of an IPv6 address. */
export const nameServerLimits = {
  /** Answers by datagrams to one network; its further ones are truncated, so that it comes over TCP. */
  answersPerSecond: 20,
  /** Beyond them, each new one ends one that has been quiet. */
  connections: 1_000,
  connectionsOfNetwork: 50,
  /** A connection ends when no whole question was asked and answered for so long. */
  questionMs: 10_000,
  /** Who connects has a question at hand. */
  firstQuestionMs: 2_000,
  /** Over TCP. No real question comes close. */
  questionBytes: 4_096,
} as const;

/**
 * Of one of several processes that share a port, because each counts by itself. Together they give no more than the limit
 * (or one each), and often less: the system does not spread datagrams evenly.
 */
export const shareOf = ({ answersPerSecond }: NameServerLimits, processes: number): number =>
  Math.max(1, Math.floor(answersPerSecond / processes));

export type NameServerLimits = Readonly<Record<keyof typeof nameServerLimits, number>>;
