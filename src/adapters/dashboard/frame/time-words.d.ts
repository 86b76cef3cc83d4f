/** As people say it, rounded to the nearest: "3 minutes ago", "in 2 hours", "just now" for the last minute. */
export const inWords: (at: Date, now: Date) => string;

/** As `inWordsWithDate`, but "any moment" where it has passed. */
export const plannedInWords: (at: Date, now: Date) => string;

/** `20 Jan 2027`, in UTC */
export const dateInWords: (at: Date) => string;

/** `inWords`, with the date where it is days away: "in 60 days, 20 Jan 2027". */
export const inWordsWithDate: (at: Date, now: Date) => string;
