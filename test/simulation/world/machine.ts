// Kept from before the globals are replaced: this module comes first.

/** Calls back in a later turn of the real event loop. */
export const realTurn = setImmediate;

/** Monotonic milliseconds of the machine, for progress and measures. */
export const realElapsed = performance.now.bind(performance);

export const realInterval = setInterval;
export const endRealInterval = clearInterval;
