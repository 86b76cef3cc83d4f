import { personNotFound } from '../domain/access-error.ts';
import { invalidPassword } from '../domain/password.ts';
import { emailOf, type Person } from '../domain/person.ts';
import {
  acceptPasskey,
  acceptStep,
  addApp,
  addPasskey,
  factorRefused,
  hasFactor,
  invalidFactor,
  passkeyChallengeMs,
  recoveryCodes,
  removeMethod,
  replaceRecoveryCodes,
  resetFactor,
  type SecondFactor,
  stepsAround,
  useRecoveryCode,
} from '../domain/second-factor.ts';
import { proveSession } from '../domain/session.ts';
import type { IsOurChallenge, SignedIn } from '../people-ports.ts';
import type { AccessPorts } from '../ports.ts';
import { admitCurrent, admitFactor } from './sign-in-attempts.ts';

/** The secret of an authenticator app, before the person has shown a code of it. */
export interface OfferedApp {
  readonly secret: string;
  /** The sealed secret, which comes back with the first code. */
  readonly token: string;
}

export const offerApp =
  ({ keyMaterial, sealer }: AccessPorts) =>
  ({ person }: SignedIn): OfferedApp => {
    const secret = keyMaterial.randomBase32();
    return { secret, token: sealer.seal(secret, appPurpose(person)) };
  };

const appPurpose = ({ id }: Person): string => `app offered to ${id}`;

/** @throws DomainError `factor_invalid` if we did not make the token for them */
export const openOffer =
  ({ sealer }: Pick<AccessPorts, 'sealer'>) =>
  ({ person }: SignedIn, token: string): OfferedApp => {
    try {
      return { secret: sealer.open(token, appPurpose(person)), token };
    } catch {
      throw invalidFactor('Load the page again, and scan the new picture.');
    }
  };

/** Recovery codes, which are shown once; undefined if the person already has some. */
type NewCodes = readonly string[] | undefined;

/** @throws DomainError `factor_invalid` for a wrong code */
export const setUpApp =
  (ports: AccessPorts) =>
  async (
    signedIn: SignedIn,
    { token, code }: { readonly token: string; readonly code: string },
  ): Promise<NewCodes> => {
    const { secondFactors, clock } = ports;
    const { secret } = openOffer(ports)(signedIn, token);
    await admitFactor(ports, signedIn.person.id);
    const step = stepOfCode(ports, secret, code);
    if (step === undefined) {
      throw invalidFactor('This code is wrong. Check that the clock of your device is right.');
    }
    const now = clock.now();
    const factor = await secondFactors.change(signedIn.person.id, (before, person) =>
      addApp(before, person, { secret, step, now }),
    );
    return firstCodes(ports, signedIn, factor);
  };

const stepOfCode = (
  { keyMaterial, clock }: AccessPorts,
  secret: string,
  code: string,
): number | undefined => {
  const digits = code.replace(/\s/g, '');
  return stepsAround(clock.now()).find((step) => keyMaterial.timeCode(secret, step) === digits);
};

const firstCodes = async (
  ports: AccessPorts,
  signedIn: SignedIn,
  { recovery }: SecondFactor,
): Promise<NewCodes> => (recovery.length > 0 ? undefined : renewRecoveryCodes(ports)(signedIn));

/** @returns new codes; the old ones no longer work @throws DomainError `factor_invalid` without a factor */
export const renewRecoveryCodes =
  (ports: AccessPorts) =>
  async ({ person }: SignedIn): Promise<readonly string[]> => {
    const { secondFactors, keyMaterial, clock } = ports;
    const codes = Array.from({ length: recoveryCodes.count }, () =>
      keyMaterial.randomBase32().slice(0, recoveryCodes.length).toLowerCase(),
    );
    const recovery = codes.map((code) => recoveryHash(ports, person, code));
    const now = clock.now();
    await secondFactors.change(person.id, (factor, its) =>
      replaceRecoveryCodes(factor, its, { recovery, now }),
    );
    return codes.map((code) => (code.match(/.{4}/g) ?? []).join('-'));
  };

const recoveryHash = ({ keyMaterial }: AccessPorts, { id }: Person, code: string): string =>
  keyMaterial.sha256(`${id}:${code.toLowerCase().replace(/[\s-]/g, '')}`);

type Purpose = 'make' | 'show';
interface Challenge {
  readonly sessionId: string;
  readonly purpose: Purpose;
  readonly at: number;
}

const challengePurpose = 'passkey challenge';

const newChallenge = (
  { sealer, clock }: AccessPorts,
  { session }: SignedIn,
  purpose: Purpose,
): string => {
  const challenge: Challenge = { sessionId: session.id, purpose, at: clock.now().getTime() };
  return sealer.seal(JSON.stringify(challenge), challengePurpose);
};

/** @returns the check of a challenge, and the time of the challenge that passed it */
const challengeOf = (
  { sealer, clock }: AccessPorts,
  { session }: SignedIn,
  purpose: Purpose,
): { readonly isOurs: IsOurChallenge; readonly madeAt: () => Date } => {
  let madeAt = new Date(0);
  const isOurs = (challenge: string): boolean => {
    try {
      const of = JSON.parse(sealer.open(challenge, challengePurpose)) as Challenge;
      const age = clock.now().getTime() - of.at;
      madeAt = new Date(of.at);
      const isFresh = age >= 0 && age < passkeyChallengeMs;
      return isFresh && of.sessionId === session.id && of.purpose === purpose;
    } catch {
      return false;
    }
  };
  return { isOurs, madeAt: () => madeAt };
};

/** Options for the browser as JSON; undefined where passkeys cannot be used. */
export const passkeyOptions =
  (ports: AccessPorts) =>
  async (signedIn: SignedIn, purpose: Purpose): Promise<string | undefined> => {
    const { passkeys, secondFactors } = ports;
    const { person } = signedIn;
    if (passkeys.origin === undefined) return undefined;
    const factor = await secondFactors.find(person.id);
    const known = factor.passkeys.map(({ id }) => id);
    if (purpose === 'show' && known.length === 0) return undefined;
    const asked = { challenge: newChallenge(ports, signedIn, purpose), person, known };
    return purpose === 'make' ? passkeys.creation(asked) : passkeys.request(asked);
  };

/** @throws DomainError `factor_invalid`, `factor_refused` */
export const setUpPasskey =
  (ports: AccessPorts) =>
  async (
    signedIn: SignedIn,
    { name, shown }: { readonly name: string; readonly shown: string },
  ): Promise<NewCodes> => {
    const { passkeys, secondFactors, clock } = ports;
    const { isOurs, madeAt } = challengeOf(ports, signedIn, 'make');
    const made = await passkeys.made(shown, isOurs);
    if (!made) throw invalidFactor('This passkey could not be read. Load the page and try again.');
    const now = clock.now();
    const factor = await secondFactors.change(signedIn.person.id, (before, person) =>
      addPasskey(before, person, { passkey: { ...made, name }, challengedAt: madeAt(), now }),
    );
    return firstCodes(ports, signedIn, factor);
  };

/** @param method `app`, or the id of a passkey @throws DomainError `factor_not_found` */
export const removeFactor =
  ({ secondFactors, clock }: AccessPorts) =>
  async ({ person }: SignedIn, method: string): Promise<void> => {
    const now = clock.now();
    await secondFactors.change(person.id, (factor, its) =>
      removeMethod(factor, its, { method, now }),
    );
  };

/** Resets everybody with the address. @throws DomainError `person_not_found` */
export const resetFactors =
  ({ people, secondFactors, clock }: AccessPorts) =>
  async (email: string): Promise<readonly Person[]> => {
    const those = await people.listByEmail(emailOf(email));
    if (those.length === 0) throw personNotFound(email);
    for (const { id } of those) {
      await secondFactors.change(id, (factor, person) => resetFactor(factor, person, clock.now()));
    }
    return those;
  };

export type Shown =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'passkey'; readonly shown: string }
  | { readonly kind: 'password'; readonly password: string };

/**
 * Admits a session that waits for the second factor, or renews its proof. People with a second factor must show it;
 * others need only the password. Attempts are counted.
 * @throws DomainError `factor_refused`, `password_invalid`, `session_not_found`, `too_many_sign_ins`
 */
export const prove =
  (ports: AccessPorts) =>
  async (signedIn: SignedIn, shown: Shown): Promise<void> => {
    const { sessions, clock, acting } = ports;
    const { session, person } = signedIn;
    if (shown.kind === 'password') await checkCurrent(ports, signedIn, shown.password);
    else await showFactor(ports, signedIn, shown);
    const { accountId, id: personId, email } = person;
    const about = { accountId, occurredAt: clock.now(), personId };
    await acting.run(`person:${email}`, () =>
      sessions.change(session.id, (one) => ({
        state: proveSession(one, clock.now()),
        events: one.awaitsFactor ? [{ type: 'person_signed_in', ...about, way: one.way }] : [],
      })),
    );
  };

const checkCurrent = async (
  ports: AccessPorts,
  { person }: SignedIn,
  password: string,
): Promise<void> => {
  const { passwords, secondFactors } = ports;
  await admitCurrent(ports, person.id);
  const isRight = await passwords.matches(password, person.passwordHash);
  if (!isRight) throw invalidPassword('The password is wrong.');
  if (hasFactor(await secondFactors.find(person.id))) throw factorRefused();
};

const showFactor = async (
  ports: AccessPorts,
  signedIn: SignedIn,
  shown: Exclude<Shown, { kind: 'password' }>,
): Promise<void> => {
  const { secondFactors, passkeys, clock } = ports;
  const { id } = signedIn.person;
  await admitFactor(ports, id);
  const now = clock.now();
  const factor = await secondFactors.find(id);
  if (shown.kind === 'passkey') {
    const { isOurs, madeAt } = challengeOf(ports, signedIn, 'show');
    const passkey = await passkeys.shown(shown.shown, factor.passkeys, isOurs);
    if (!passkey) throw factorRefused();
    const of = { passkey, challengedAt: madeAt(), now };
    await secondFactors.change(id, (one) => acceptPasskey(one, of));
    return;
  }
  const step = factor.app && stepOfCode(ports, factor.app.secret, shown.code);
  const codeHash = recoveryHash(ports, signedIn.person, shown.code);
  await secondFactors.change(id, (one, person) =>
    step === undefined ? useRecoveryCode(one, person, { codeHash, now }) : acceptStep(one, step),
  );
};
