/** As people say it, rounded to the nearest: "3 minutes ago", "in 2 hours", "just now" for the last minute. */
export const inWords: (at: Date, now: Date) => string;

export const plannedInWords: (at: Date, now: Date) => string;

export const dateInWords: (at: Date) => string;

export const inWordsWithDate: (at: Date, now: Date) => string;
