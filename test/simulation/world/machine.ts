// Stored before the globals are replaced, so this module must be loaded first.

/** Calls back in a later turn of the real event loop. */
export const realTurn = setImmediate;

/** Monotonic milliseconds of the real machine, for progress and measurements. */
export const realElapsed = performance.now.bind(performance);

export const realInterval = setInterval;
export const endRealInterval = clearInterval;
