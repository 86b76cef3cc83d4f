/** Rounds to the nearest unit: "3 minutes ago", "in 2 hours", or "just now" for the last minute. */
export const inWords: (at: Date, now: Date) => string;

export const plannedInWords: (at: Date, now: Date) => string;

export const dateInWords: (at: Date) => string;

export const inWordsWithDate: (at: Date, now: Date) => string;
