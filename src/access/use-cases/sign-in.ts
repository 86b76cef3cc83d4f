import { emailOf } from '../domain/email.ts';
import { signInLinkInvalid, signInRefused } from '../domain/people-error.ts';
import type { Person } from '../domain/person.ts';
import { isOpen, secretLength, startSession, type Session } from '../domain/session.ts';
import type { SignedIn, SignInProof } from '../people-ports.ts';
import type { AccessPorts } from '../ports.ts';
import { admitAttemptFor, admitAttemptFrom } from './sign-in-attempts.ts';

/** A session with its secret, for the browser's cookie: the only time that it is seen. */
export interface StartedSession extends Session {
  readonly secret: string;
}

/** Where somebody comes from. */
export interface SignInOrigin {
  /** What shares one bucket: an address, or its network. */
  readonly network: string;
  readonly browser: string;
}

/** Who is let in, and why. */
interface Admission {
  readonly person: Person;
  readonly proof: SignInProof;
}

/**
 * With e-mail and password. Whoever is unknown, has no password or mistypes it gets one answer, after the same time.
 * @throws DomainError `sign_in_refused`, `too_many_sign_ins`
 */
export const signIn =
  (ports: AccessPorts) =>
  async (
    { email, password }: { readonly email: string; readonly password: string },
    from: SignInOrigin,
  ): Promise<StartedSession> => {
    const wanted = emailOf(email);
    await admitAttemptFrom(ports, from.network);
    await admitAttemptFor(ports, wanted);
    const person = await ports.people.findByEmail(wanted);
    const passwordHash = person?.passwordHash;
    const isRight = await ports.passwords.matches(password, passwordHash);
    if (!person || passwordHash === undefined || !isRight) throw signInRefused();
    return openSession(ports, { person, proof: { way: 'password', passwordHash } }, from);
  };

/** With a link, which is used up by it. @throws DomainError `sign_in_link_invalid`, `too_many_sign_ins` */
export const signInByLink =
  (ports: AccessPorts) =>
  async (secret: string, from: SignInOrigin): Promise<StartedSession> => {
    await admitAttemptFrom(ports, from.network);
    const { signInLinks, keyMaterial, people, clock } = ports;
    const linkHash = keyMaterial.sha256(secret);
    const personId = await signInLinks.personIdOf(linkHash, clock.now());
    const person = personId === undefined ? undefined : await people.find(personId);
    if (!person) throw signInLinkInvalid();
    return openSession(ports, { person, proof: { way: 'link', linkHash } }, from);
  };

/** Who holds the secret of a session; undefined once it is over, ended or its person gone. */
export const findSession =
  ({ sessions, keyMaterial, clock }: AccessPorts) =>
  async (secret: string): Promise<SignedIn | undefined> => {
    const found = await sessions.findBySecretHash(keyMaterial.sha256(secret));
    return found && isOpen(found.session, clock.now()) ? found : undefined;
  };

const openSession = async (
  { sessions, keyMaterial, ids, clock, acting }: AccessPorts,
  { person, proof }: Admission,
  { browser }: SignInOrigin,
): Promise<StartedSession> => {
  const now = clock.now();
  const { id: personId, accountId, email } = person;
  const { way } = proof;
  const secret = keyMaterial.randomBase62(secretLength);
  const secretHash = keyMaterial.sha256(secret);
  const session = startSession({ id: ids.next('sess'), personId, way, browser }, now);
  const about = { accountId, occurredAt: now, personId };
  const events = [{ type: 'person_signed_in', ...about, way }] as const;
  await acting.run(`person:${email}`, () => sessions.start({ session, secretHash, proof, events }));
  return { ...session, secret };
};
