export interface AuthorityWeather {
  /** 'refuses' connections, or is 'silent' until the client gives up. */
  away: 'no' | 'refuses' | 'silent';
  /** How likely each of these is, for each request. */
  failing: number;
  busy: number;
  refusesNonces: number;
  /** The connection breaks before the authority has the request. */
  losesRequests: number;
  /** The connection breaks after the authority has acted. */
  losesAnswers: number;
  /** Something in between sends the request twice, and the client gets the second answer. */
  repeats: number;
  /** Once it has taken an order, it refuses connections. */
  leaves: boolean;
  /** Each request takes up to this long, half of it after the authority has acted. */
  slowMs: number;
  /** What it asks for when it is busy. */
  retryAfterS: number;
  /**
   * Whether a renewal counts outside of its window. Let's Encrypt's page says nothing about that; Boulder counts it
   * (wfe2, validateReplacementOrder).
   */
  exemptsOnlyInWindow: boolean;
}

export const fairWeather: AuthorityWeather = {
  away: 'no',
  failing: 0,
  busy: 0,
  refusesNonces: 0,
  losesRequests: 0,
  losesAnswers: 0,
  repeats: 0,
  leaves: false,
  slowMs: 0,
  retryAfterS: 10,
  exemptsOnlyInWindow: false,
};
