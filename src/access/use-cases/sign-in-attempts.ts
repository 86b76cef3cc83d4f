import { TooMany } from '../domain/access-error.ts';
import type { Person } from '../domain/person.ts';
import { judge, type Limits, secondsUntil } from '../domain/quota.ts';
import { networksAround, signInLimits, times } from '../domain/session.ts';
import type { AccessPorts } from '../ports.ts';
import { inWords } from '../../kernel/text.ts';

type DevicePorts = Pick<AccessPorts, 'sealer' | 'keyMaterial'>;

export interface KnownDevice {
  readonly id: string;
  readonly personIds: readonly string[];
  /** The people among them whose addresses were proven then. No stranger can have made the browser known for these. */
  readonly provenIds: readonly string[];
}

const purpose = 'known device';
const longestToken = 4000;
const mostPeople = 8;
const idLength = 32;

/** @param token from `markDevice`, or untrusted text @returns undefined if we did not make the token */
export const openDevice = (
  { sealer }: Pick<DevicePorts, 'sealer'>,
  token: string | undefined,
): KnownDevice | undefined => {
  if (token === undefined || token.length > longestToken) return undefined;
  try {
    return JSON.parse(sealer.open(token, purpose)) as KnownDevice;
  } catch {
    return undefined;
  }
};

/** Adds a person to a browser. @returns the new token, which grants no access */
export const markDevice = (
  { sealer, keyMaterial }: DevicePorts,
  token: string | undefined,
  { personId, isProven }: { readonly personId: string; readonly isProven: boolean },
): string => {
  const { id, personIds, provenIds } = openDevice({ sealer }, token) ?? nobodyYet(keyMaterial);
  const device: KnownDevice = {
    id,
    personIds: withFirst(personIds, personId),
    provenIds: isProven ? withFirst(provenIds, personId) : provenIds,
  };
  return sealer.seal(JSON.stringify(device), purpose);
};

const nobodyYet = (keyMaterial: DevicePorts['keyMaterial']): KnownDevice => ({
  id: keyMaterial.randomBase62(idLength),
  personIds: [],
  provenIds: [],
});

const withFirst = (ids: readonly string[], first: string): readonly string[] =>
  [first, ...ids.filter((id) => id !== first)].slice(0, mostPeople);

type Ports = Pick<AccessPorts, 'counters' | 'keyMaterial' | 'clock' | 'people' | 'sealer'>;
type CountingPorts = Pick<AccessPorts, 'counters' | 'clock'>;

export interface Attempt {
  /** In the form of `emailOf`; may belong to nobody. */
  readonly email: string;
  readonly network: string;
  /** The browser's device token from an earlier sign-in. */
  readonly device: string | undefined;
}

/** Counts an attempt with a password or link from a network, right or wrong. @throws TooMany */
export const admitAttemptFrom = async (ports: CountingPorts, network: string): Promise<void> => {
  const wait = await waitFrom(ports, { what: 'sign-in-from', network }, signInLimits.network);
  if (wait === undefined) return;
  const message = `Too many attempts to sign in from your network. Try again in ${inWords(wait * 1000)}.`;
  throw new TooMany('too_many_sign_ins', message, wait);
};

/** Counts a signed-in person's attempt at their current password, right or wrong. @throws TooMany */
export const admitCurrent = (ports: CountingPorts, personId: string): Promise<void> =>
  admit(ports, `password-of:${personId}`, signInLimits.current);

/** Counts an attempt at a code of the second factor, right or wrong. @throws TooMany */
export const admitFactor = async (ports: CountingPorts, personId: string): Promise<void> => {
  const wait = await waitBeforeAttempt(ports, `factor-of:${personId}`, signInLimits.factor);
  if (wait === undefined) return;
  const message = `Too many attempts with a code. Try again in ${inWords(wait * 1000)}.`;
  throw new TooMany('too_many_sign_ins', message, wait);
};

/**
 * Counts an attempt at the password of an address, right or wrong. Does not limit links.
 * @returns the people whose passwords may be compared. People who have signed in from this browser before are counted
 * separately, so that attempts elsewhere cannot lock them out; the browser gets no extra attempts at other people's
 * passwords
 * @throws TooMany
 */
export const peopleToCompare = async (
  ports: Ports,
  attempt: Attempt,
): Promise<readonly Person[]> => {
  const device = openDevice(ports, attempt.device);
  if (!device) {
    await admitStranger(ports, attempt);
    return ports.people.listByEmail(attempt.email);
  }
  const all = await ports.people.listByEmail(attempt.email);
  const known = all.filter(({ id }) => device.personIds.includes(id));
  const rest = all.filter((person) => !known.includes(person));
  const groups = [
    {
      people: known,
      admit: () => admit(ports, `sign-in-device:${device.id}`, signInLimits.device),
    },
    { people: rest, admit: () => admitStranger(ports, attempt) },
  ].filter(({ people }) => people.length > 0 || (all.length === 0 && people === rest));
  return admittedOf(groups);
};

interface Group {
  readonly people: readonly Person[];
  readonly admit: () => Promise<void>;
}

/** @throws TooMany if no group is admitted */
const admittedOf = async (groups: readonly Group[]): Promise<readonly Person[]> => {
  const outcomes = [];
  for (const { people, admit } of groups) {
    outcomes.push(await admit().then(() => people, unlessTooMany));
  }
  const refusals = outcomes.flatMap((one) => (one instanceof TooMany ? [one] : []));
  const [refusal] = refusals;
  if (refusal && refusals.length === groups.length) throw refusal;
  return outcomes.flatMap((one) => (one instanceof TooMany ? [] : one));
};

const unlessTooMany = (error: unknown): TooMany => {
  if (error instanceof TooMany) return error;
  throw error;
};

const admitStranger = async (
  ports: Pick<Ports, 'counters' | 'clock' | 'keyMaterial'>,
  { email, network }: Attempt,
): Promise<void> => {
  await admitAttemptFrom(ports, network);
  const what = `sign-in:${ports.keyMaterial.sha256(email)}`;
  refuseFor(await waitFrom(ports, { what, network }, signInLimits.addressFromNetwork));
};

const admit = async (ports: CountingPorts, subject: string, limits: Limits): Promise<void> => {
  refuseFor(await waitBeforeAttempt(ports, subject, limits));
};

const refuseFor = (wait: number | undefined): void => {
  if (wait === undefined) return;
  const when = `Try again in ${inWords(wait * 1000)}, or use a sign-in link, which works at once.`;
  throw new TooMany('too_many_sign_ins', `Too many attempts with a password. ${when}`, wait);
};

/** @returns seconds until an attempt is admitted; undefined if this one is */
export const waitBeforeAttempt = async (
  { counters, clock }: CountingPorts,
  subject: string,
  limits: Limits,
): Promise<number | undefined> => {
  const now = clock.now();
  const { allowed, counts } = await counters.take({ subject, limits, now });
  return allowed ? undefined : secondsUntil(judge(limits, counts, false, now).speaks.resetAt, now);
};

/** Waits like `waitBeforeAttempt`, for a network and the wider ones around it. @param limits of the narrowest */
export const waitFrom = async (
  ports: CountingPorts,
  { what, network }: { readonly what: string; readonly network: string },
  limits: Limits,
): Promise<number | undefined> => {
  for (const { name, factor } of networksAround(network)) {
    const wait = await waitBeforeAttempt(ports, `${what}:${name}`, times(limits, factor));
    if (wait !== undefined) return wait;
  }
  return undefined;
};
