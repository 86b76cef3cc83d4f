import type { Limits } from './quota.ts';
import ipaddr from 'ipaddr.js';
import { minuteMs } from '../../kernel/durations.ts';

export const signInWays = ['password', 'link'] as const;
export type SignInWay = (typeof signInWays)[number];

export interface Session {
  readonly id: string;
  readonly personId: string;
  readonly way: SignInWay;
  /**
   * Allows one new password without the current one, because the session began with a link that resets the password.
   */
  readonly resetsPassword: boolean;
  readonly browser: string;
  readonly network: string;
  readonly seenAt: Date;
  /** When the person last proved their identity, at the sign-in or on request. */
  readonly provenAt: Date | undefined;
  /** Grants no access until the second factor is shown. */
  readonly awaitsFactor: boolean;
  readonly startedAt: Date;
  readonly endsAt: Date;
  /** Accounts that the same password opens; the session may switch to them. */
  readonly others: readonly SessionChoice[];
}

/** A person of another account with the same address and, when the session began, the same password. */
export interface SessionChoice {
  readonly personId: string;
  /** SHA-256 of the password's hash at that time, so that a changed password ends this choice. */
  readonly proof: string;
}

export const sessionMs = 12 * 60 * minuteMs;
export const mostSessions = 50;
const factorWaitMs = 10 * minuteMs;
const provenMs = 10 * minuteMs;
export const seenEveryMs = minuteMs;
export const shortLinkMs = 15 * minuteMs;
export const mailedLinkMs = 30 * minuteMs;
export const invitationMs = 7 * 24 * 60 * minuteMs;

/** Random base62 characters in the secret of a session or link: more than 256 bits. */
export const secretLength = 43;

/**
 * Limits attempts at passwords and links. Browsers with an earlier sign-in are counted separately (OWASP, device
 * cookies), so that an attacker elsewhere cannot lock a person out. Wider networks may attempt more, but less than all
 * of their parts together: see `networksAround`.
 */
export const signInLimits = {
  network: { perMinute: 20, perDay: 1000 },
  addressFromNetwork: { perMinute: 5, perDay: 100 },
  device: { perMinute: 10, perDay: 100 },
  /** Links that people of one account make for others. Each causes a mail to a stranger. */
  invitations: { perMinute: 20, perDay: 50 },
  ownLinks: { perMinute: 5, perDay: 50 },
  current: { perMinute: 5, perDay: 100 },
  factor: { perMinute: 5, perDay: 100 },
} as const satisfies Readonly<Record<string, Limits>>;

/** How long a browser stays known after a sign-in. Browsers keep cookies for at most 400 days. */
export const knownDeviceMs = 365 * 24 * 60 * minuteMs;

/** Dashboard requests of a signed-in person per minute. `streams` counts opened live pages. */
export const dashboardLimits = {
  pages: 600,
  forms: 300,
  streams: 300,
} as const;
/**
 * Requests for shared pages about one domain, per network of visitors who are not signed in. Each page reloads itself.
 */
export const sharedPageLimits = { perMinute: 120, perDay: 50_000 } as const satisfies Limits;
/** Webhook calls that people request, per account, and per host over all accounts. */
export const askedCallLimits = {
  ofAccount: { perMinute: 5, perDay: 200 },
  toHost: { perMinute: 10, perDay: 1000 },
} as const satisfies Readonly<Record<string, Limits>>;
export type DashboardUse = keyof typeof dashboardLimits;

export const startSession = (
  draft: Pick<Session, 'id' | 'personId' | 'way' | 'browser' | 'network'> &
    Partial<Pick<Session, 'others' | 'resetsPassword' | 'provenAt' | 'awaitsFactor'>>,
  now: Date,
): Session => ({
  others: [],
  resetsPassword: false,
  provenAt: undefined,
  awaitsFactor: false,
  seenAt: now,
  ...draft,
  browser: draft.browser.slice(0, 200).toWellFormed(),
  startedAt: now,
  endsAt: new Date(now.getTime() + (draft.awaitsFactor === true ? factorWaitMs : sessionMs)),
});

/**
 * The person's sessions that end with the start of this one, because each person has at most `mostSessions`. Sessions
 * that wait for the second factor are counted separately.
 * @param all of the person, the newest first
 */
export const surplusSessions = (
  { id, awaitsFactor }: Session,
  all: readonly Pick<Session, 'id' | 'awaitsFactor'>[],
): readonly string[] =>
  all
    .filter((one) => one.id !== id && one.awaitsFactor === awaitsFactor)
    .slice(mostSessions - 1)
    .map((one) => one.id);

export const proveSession = (session: Session, now: Date): Session => ({
  ...session,
  provenAt: now,
  awaitsFactor: false,
  endsAt: session.awaitsFactor ? new Date(now.getTime() + sessionMs) : session.endsAt,
});

export const isProven = ({ provenAt }: Pick<Session, 'provenAt'>, now: Date): boolean => {
  if (!provenAt) return false;
  const ago = now.getTime() - provenAt.getTime();
  return ago >= 0 && ago < provenMs;
};

/** A session is open before its start too, because the clock may have been set back. */
export const isOpen = ({ startedAt, endsAt }: Session, now: Date): boolean =>
  now < endsAt && startedAt.getTime() - now.getTime() < sessionMs;

/** A network, and how many times more it may send than the narrowest one. */
export interface CountedNetwork {
  readonly name: string;
  readonly factor: number;
  /** Networks of this width take turns when not all can be served at once. */
  readonly takesTurns: boolean;
}

const widths = {
  ipv4: [
    { bits: 32, factor: 1, takesTurns: false },
    { bits: 24, factor: 8, takesTurns: true },
  ],
  // A customer has a /64, a /56 or a /48; a provider has a /32.
  ipv6: [
    { bits: 64, factor: 1, takesTurns: false },
    { bits: 56, factor: 2, takesTurns: false },
    { bits: 48, factor: 4, takesTurns: true },
    { bits: 32, factor: 40, takesTurns: false },
  ],
} as const;

/** @param network an IPv4 address, or the /64 network of an IPv6 address @returns the narrowest first */
export const networksAround = (network: string): readonly CountedNetwork[] => {
  const address = network.replace('/64', '');
  if (!ipaddr.isValid(address)) return [{ name: network, factor: 1, takesTurns: true }];
  const parsed = ipaddr.parse(address);
  return widths[parsed.kind()].map(({ bits, factor, takesTurns }) => ({
    name: factor === 1 ? network : nameOf(parsed, bits),
    factor,
    takesTurns,
  }));
};

const nameOf = (address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string => {
  const of = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  const cidr = `${address.toString()}/${String(bits)}`;
  return `${of.networkAddressFromCIDR(cidr).toString()}/${String(bits)}`;
};

export const times = ({ perMinute, perDay }: Limits, factor: number): Limits => ({
  perMinute: factor * perMinute,
  perDay: factor * perDay,
});
