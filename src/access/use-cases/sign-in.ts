import { personNotFound, signInLinkInvalid, signInRefused } from '../domain/access-error.ts';
import { emailOf, type Person, type SignInProof } from '../domain/person.ts';
import {
  isOpen,
  secretLength,
  seenEveryMs,
  type Session,
  type SessionChoice,
  startSession,
} from '../domain/session.ts';
import type { Membership, SignedIn } from '../people-ports.ts';
import type { AccessPorts } from '../ports.ts';
import { markDevice, admitAttemptFrom, peopleToCompare } from './sign-in-attempts.ts';
import { revokeSession, unlessEnded } from './people.ts';

/** A session with the secret for the browser's cookie, which cannot be read again later. */
export interface StartedSession extends Session {
  readonly secret: string;
  /** For a second cookie that identifies the browser at its next sign-in. */
  readonly device: string;
}

export interface SignInOrigin {
  /** The IPv4 address or IPv6 network whose attempts count together. */
  readonly network: string;
  readonly browser: string;
  /** The `device` of an earlier `StartedSession`. */
  readonly device?: string | undefined;
}

interface Admission {
  readonly person: Person;
  readonly proof: SignInProof;
  readonly resetsPassword?: boolean;
  readonly others?: readonly SessionChoice[];
  readonly from?: Session | undefined;
}

/**
 * Signs in with email and password. An unknown address, a missing password and a wrong one get the same answer after
 * the same time. If the password opens several accounts, the session starts in the oldest and may switch.
 * @throws DomainError `sign_in_refused`, `too_many_sign_ins`
 */
export const signIn =
  (ports: AccessPorts) =>
  async (
    { email, password }: { readonly email: string; readonly password: string },
    from: SignInOrigin,
  ): Promise<StartedSession> => {
    const { network, device } = from;
    const people = await peopleToCompare(ports, { email: emailOf(email), network, device });
    const hashes = people.flatMap(({ passwordHash }) => passwordHash ?? []);
    const right = await ports.passwords.matching(password, hashes);
    const [first, ...others] = people.flatMap((person) =>
      person.passwordHash !== undefined && right.includes(person.passwordHash)
        ? [{ person, passwordHash: person.passwordHash }]
        : [],
    );
    if (!first) throw signInRefused();
    const { person, passwordHash } = first;
    const choices = others.map((one) => choiceOf(ports, one.person.id, one.passwordHash));
    const proof = { way: 'password', passwordHash } as const;
    return openSession(ports, { person, proof, others: choices }, from);
  };

const choiceOf = (
  { keyMaterial }: Pick<AccessPorts, 'keyMaterial'>,
  personId: string,
  passwordHash: string,
): SessionChoice => ({ personId, proof: keyMaterial.sha256(passwordHash) });

/** Signs in with a link, which works once. @throws DomainError `sign_in_link_invalid`, `too_many_sign_ins` */
export const signInByLink =
  (ports: AccessPorts) =>
  async (secret: string, from: SignInOrigin): Promise<StartedSession> => {
    await admitAttemptFrom(ports, from.network);
    const { person, linkHash } = await personBehind(ports, secret);
    const resetsPassword = await ports.signInLinks.resetsPassword(linkHash);
    return openSession(ports, { person, proof: { way: 'link', linkHash }, resetsPassword }, from);
  };

/**
 * Finds the person and account of a link without using it up.
 * @throws DomainError `sign_in_link_invalid`, `too_many_sign_ins`
 */
export const lookBehindLink =
  (ports: AccessPorts) =>
  async (secret: string, { network }: Pick<SignInOrigin, 'network'>): Promise<Membership> => {
    await admitAttemptFrom(ports, network);
    const { person } = await personBehind(ports, secret);
    const account = await ports.accounts.find(person.accountId);
    if (!account) throw signInLinkInvalid();
    return { person, account };
  };

/** @throws DomainError `sign_in_link_invalid` */
const personBehind = async (
  { signInLinks, keyMaterial, people, clock }: AccessPorts,
  secret: string,
): Promise<{ readonly person: Person; readonly linkHash: string }> => {
  const linkHash = keyMaterial.sha256(secret);
  const personId = await signInLinks.personIdOf(linkHash, clock.now());
  const person = personId === undefined ? undefined : await people.find(personId);
  if (!person) throw signInLinkInvalid();
  return { person, linkHash };
};

/** Finds the person of a session secret; undefined if the session has expired or ended, or the person was removed. */
export const findSession =
  ({ sessions, keyMaterial, clock }: AccessPorts) =>
  async (secret: string): Promise<SignedIn | undefined> => {
    const found = await sessions.findBySecretHash(keyMaterial.sha256(secret));
    const isIn = found && !found.session.awaitsFactor && isOpen(found.session, clock.now());
    return isIn ? found : undefined;
  };

export const findWaiting =
  ({ sessions, keyMaterial, clock }: AccessPorts) =>
  async (secret: string): Promise<SignedIn | undefined> => {
    const found = await sessions.findBySecretHash(keyMaterial.sha256(secret));
    const isWaiting = found?.session.awaitsFactor === true && isOpen(found.session, clock.now());
    return isWaiting ? found : undefined;
  };

export const noteSeen =
  ({ sessions, clock }: Pick<AccessPorts, 'sessions' | 'clock'>) =>
  async ({ session }: SignedIn, network: string): Promise<void> => {
    const now = clock.now();
    if (Math.abs(now.getTime() - session.seenAt.getTime()) < seenEveryMs) return;
    await sessions.see(session.id, { seenAt: now, network });
  };

const openSession = async (
  ports: AccessPorts,
  admission: Admission,
  { browser, device, network }: SignInOrigin,
): Promise<StartedSession> => {
  const { person, proof, from, ...chosen } = admission;
  const { sessions, keyMaterial, ids, clock, acting } = ports;
  const now = clock.now();
  const { id: personId, accountId, email } = person;
  const { way } = proof;
  const secret = keyMaterial.randomBase62(secretLength);
  const secretHash = keyMaterial.sha256(secret);
  const awaitsFactor = person.factorSince !== undefined;
  const provenAt = awaitsFactor ? undefined : provenIn(admission, now);
  const whose = { id: ids.next('sess'), personId, way, browser, network };
  const fresh = startSession({ ...whose, ...chosen, awaitsFactor, provenAt }, now);
  const session = from === undefined || awaitsFactor ? fresh : { ...fresh, endsAt: from.endsAt };
  const about = { accountId, occurredAt: now, personId };
  const events = awaitsFactor ? [] : [{ type: 'person_signed_in', ...about, way } as const];
  await acting.run(`person:${email}`, () => sessions.start({ session, secretHash, proof, events }));
  const isProven = way === 'link' ? session.resetsPassword : person.provenAt !== undefined;
  return { ...session, secret, device: markDevice(ports, device, { personId, isProven }) };
};

/** A link that a signed-in person made for themselves proves nothing, because their session may be stolen. */
const provenIn = (
  { person, proof, from, resetsPassword }: Admission,
  now: Date,
): Date | undefined => {
  if (from) return from.provenAt;
  const isProof = proof.way === 'password' || resetsPassword === true || !person.joinedAt;
  return isProof ? now : undefined;
};

export const accountsOf =
  (ports: AccessPorts) =>
  async ({ person, account, session }: SignedIn): Promise<readonly Membership[]> => {
    const others = await Promise.all(session.others.map((choice) => membershipOf(ports, choice)));
    return [{ person, account }, ...others.flatMap((one) => one ?? [])];
  };

/**
 * Starts a session in another account with the same expiry, and ends this one.
 * @throws DomainError `person_not_found` if the password of this session does not open that account, or no longer does
 */
export const switchAccount =
  (ports: AccessPorts) =>
  async (signedIn: SignedIn, personId: string, from: SignInOrigin): Promise<StartedSession> => {
    const { session, person: left } = signedIn;
    const chosen = session.others.find((one) => one.personId === personId);
    const person = chosen && (await personOf(ports, chosen));
    if (person?.passwordHash === undefined) throw personNotFound(personId);
    const rest = session.others.filter((one) => one.personId !== personId);
    const back =
      left.passwordHash === undefined ? [] : [choiceOf(ports, left.id, left.passwordHash)];
    const proof = { way: 'password', passwordHash: person.passwordHash } as const;
    const admission = { person, proof, others: [...back, ...rest], from: session };
    const started = await openSession(ports, admission, from);
    await revokeSession(ports)(signedIn, session.id).catch(unlessEnded);
    return started;
  };

const membershipOf = async (
  ports: AccessPorts,
  choice: SessionChoice,
): Promise<Membership | undefined> => {
  const person = await personOf(ports, choice);
  const account = person && (await ports.accounts.find(person.accountId));
  return account && { person, account };
};

/** Undefined if the person was removed or has changed the password. */
const personOf = async (
  { people, keyMaterial }: AccessPorts,
  { personId, proof }: SessionChoice,
): Promise<Person | undefined> => {
  const person = await people.find(personId);
  const hash = person?.passwordHash;
  return hash !== undefined && keyMaterial.sha256(hash) === proof ? person : undefined;
};
