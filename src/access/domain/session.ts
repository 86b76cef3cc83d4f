import type { Limits } from './plan.ts';

/** `link`: whoever came by a link may choose a new password without the old one. */
export const signInWays = ['password', 'link'] as const;
export type SignInWay = (typeof signInWays)[number];

/** One browser that is signed in. Its secret is known to the browser only. */
export interface Session {
  readonly id: string;
  readonly personId: string;
  readonly way: SignInWay;
  /** What the browser says it is, cut to 200 characters. */
  readonly browser: string;
  readonly startedAt: Date;
  readonly endsAt: Date;
}

const minute = 60_000;

export const sessionMs = 12 * 60 * minute;
/** For a link that is used right away. */
export const shortLinkMs = 15 * minute;
/** For somebody who is invited. */
export const invitationMs = 7 * 24 * 60 * minute;

/** Random base62 characters of a session's or link's secret: more than 256 bits. */
export const secretLength = 43;

/** Passwords that may be tried for one address of a person, and from one network address. */
export const signInLimits = {
  person: { perMinute: 5, perDay: 100 },
  network: { perMinute: 20, perDay: 1000 },
} as const satisfies Readonly<Record<string, Limits>>;

/** What a signed-in person may ask of the dashboard in a minute. `streams`: live pages that are opened. */
export const dashboardLimits = {
  pages: 600,
  forms: 300,
  streams: 300,
} as const;
export type DashboardUse = keyof typeof dashboardLimits;

export const startSession = (
  draft: Pick<Session, 'id' | 'personId' | 'way' | 'browser'>,
  now: Date,
): Session => ({
  ...draft,
  browser: draft.browser.slice(0, 200).toWellFormed(),
  startedAt: now,
  endsAt: new Date(now.getTime() + sessionMs),
});

/** Also before it began: then the clock was set back, and it is not known how far. */
export const isOpen = ({ startedAt, endsAt }: Session, now: Date): boolean =>
  now < endsAt && startedAt.getTime() - now.getTime() < sessionMs;
