import type { PeopleErrorCode } from './access-error.ts';
import type { AccessEvent } from './access-event.ts';
import type { Person } from './person.ts';
import type { Decision } from '../../kernel/decision.ts';
import { DomainError } from '../../kernel/decision.ts';

export interface Passkey {
  readonly id: string;
  readonly name: string;
  /** COSE key, base64url. */
  readonly publicKey: string;
  /** The signature counter, if the authenticator has one. */
  readonly counter: number;
  readonly createdAt: Date;
  readonly usedAt: Date | undefined;
}

interface CodeApp {
  readonly secret: string;
  readonly since: Date;
  /** Codes of this and earlier steps no longer work. */
  readonly lastStep: number;
}

/** Belongs to one person of one account, because anybody can type an address that is not theirs. */
export interface SecondFactor {
  readonly personId: string;
  readonly app: CodeApp | undefined;
  readonly passkeys: readonly Passkey[];
  /** SHA-256 hashes of the unused recovery codes. */
  readonly recovery: readonly string[];
  /** Passkey challenges made at or before this time no longer work. */
  readonly challengedUntil: Date;
}

export const noFactor = (personId: string): SecondFactor => ({
  personId,
  app: undefined,
  passkeys: [],
  recovery: [],
  challengedUntil: new Date(0),
});

export const hasFactor = ({ app, passkeys }: SecondFactor): boolean =>
  app !== undefined || passkeys.length > 0;

/** Since when the person has had a factor, once this change is stored. */
export const factorSince = (
  person: Pick<Person, 'factorSince'>,
  { state, events: [event] }: Changed,
): Date | undefined => (hasFactor(state) ? (person.factorSince ?? event?.occurredAt) : undefined);

export const mostPasskeys = 10;
export const recoveryCodes = { count: 10, length: 12 } as const;

const stepMs = 30_000;
export const stepOf = (now: Date): number => Math.floor(now.getTime() / stepMs);
/** The accepted steps. A phone's clock may differ by half a minute. */
export const stepsAround = (now: Date): readonly number[] =>
  [0, -1, 1].map((by) => stepOf(now) + by);

export const passkeyChallengeMs = 5 * 60_000;

type Changed = Decision<SecondFactor, AccessEvent>;
type Whose = Pick<Person, 'id' | 'accountId'>;
type Method = 'app' | 'passkey';

const added = (
  factor: SecondFactor,
  person: Whose,
  of: { method: Method; now: Date },
): Changed => ({
  state: factor,
  events: [{ type: 'second_factor_added', ...about(person, of.now), method: of.method }],
});

const about = ({ id: personId, accountId }: Whose, occurredAt: Date) => ({
  accountId,
  occurredAt,
  personId,
});

/**
 * @param step of the shown code
 * @throws DomainError `factor_invalid` if the app is already set up, because its code would work again
 */
export const addApp = (
  factor: SecondFactor,
  person: Whose,
  { secret, step, now }: { readonly secret: string; readonly step: number; readonly now: Date },
): Changed => {
  if (factor.app?.secret === secret) {
    throw invalidFactor(
      'This app is set up already. If you did not see your recovery codes, cancel, and make new ones.',
    );
  }
  const app = { secret, since: now, lastStep: step };
  return added({ ...factor, app }, person, { method: 'app', now });
};

interface ShownPasskey {
  readonly passkey: Pick<Passkey, 'id' | 'counter'>;
  readonly challengedAt: Date;
  readonly now: Date;
}

/** @throws DomainError `factor_invalid` */
export const addPasskey = (
  factor: SecondFactor,
  person: Whose,
  shown: ShownPasskey & { readonly passkey: Pick<Passkey, 'name' | 'publicKey'> },
): Changed => {
  const { passkey, now } = shown;
  if (factor.passkeys.length >= mostPasskeys) {
    throw invalidFactor(`You have ${mostPasskeys} passkeys, the maximum. Remove one first.`);
  }
  if (factor.passkeys.some(({ id }) => id === passkey.id)) {
    throw invalidFactor('This passkey is already set up.');
  }
  const passkeys = [...factor.passkeys, { ...passkey, createdAt: now, usedAt: undefined }];
  return added({ ...useChallenge(factor, shown), passkeys }, person, { method: 'passkey', now });
};

/** @throws DomainError `factor_refused` for a used challenge */
const useChallenge = (
  factor: SecondFactor,
  { challengedAt }: Pick<ShownPasskey, 'challengedAt'>,
): SecondFactor => {
  if (challengedAt <= factor.challengedUntil) throw factorRefused();
  return { ...factor, challengedUntil: challengedAt };
};

/** @throws DomainError `factor_refused` */
export const acceptPasskey = (factor: SecondFactor, shown: ShownPasskey): Changed => {
  const { passkey, now } = shown;
  if (!factor.passkeys.some(({ id }) => id === passkey.id)) throw factorRefused();
  const passkeys = factor.passkeys.map((one) =>
    one.id === passkey.id ? { ...one, counter: passkey.counter, usedAt: now } : one,
  );
  return { state: { ...useChallenge(factor, shown), passkeys }, events: [] };
};

/** @param step of the shown code @throws DomainError `factor_refused` for a used code, or without an app */
export const acceptStep = (factor: SecondFactor, step: number): Changed => {
  if (!factor.app || step <= factor.app.lastStep) throw factorRefused();
  return { state: { ...factor, app: { ...factor.app, lastStep: step } }, events: [] };
};

/** @throws DomainError `factor_refused` for an unknown or used code */
export const useRecoveryCode = (
  factor: SecondFactor,
  person: Whose,
  { codeHash, now }: { readonly codeHash: string; readonly now: Date },
): Changed => {
  const recovery = factor.recovery.filter((one) => one !== codeHash);
  if (recovery.length === factor.recovery.length) throw factorRefused();
  const event = {
    type: 'recovery_code_used',
    ...about(person, now),
    left: recovery.length,
  } as const;
  return { state: { ...factor, recovery }, events: [event] };
};

/** Invalidates the old codes. @throws DomainError `factor_invalid` without a factor to recover from */
export const replaceRecoveryCodes = (
  factor: SecondFactor,
  person: Whose,
  { recovery, now }: Pick<SecondFactor, 'recovery'> & { readonly now: Date },
): Changed => {
  if (!hasFactor(factor)) throw invalidFactor('Set up a second factor first.');
  const event = { type: 'recovery_codes_made', ...about(person, now) } as const;
  return { state: { ...factor, recovery }, events: [event] };
};

/**
 * Removing the last method also removes the recovery codes.
 * @param method `app`, or the id of a passkey
 * @throws DomainError `factor_not_found`
 */
export const removeMethod = (
  factor: SecondFactor,
  person: Whose,
  { method, now }: { readonly method: string; readonly now: Date },
): Changed => {
  const passkeys = factor.passkeys.filter(({ id }) => id !== method);
  const isApp = method === 'app' && factor.app !== undefined;
  if (!isApp && passkeys.length === factor.passkeys.length) {
    throw new DomainError<PeopleErrorCode>('factor_not_found', 'It was removed already.');
  }
  const left = { ...factor, passkeys, app: isApp ? undefined : factor.app };
  const word = isApp ? 'app' : 'passkey';
  const event = { type: 'second_factor_removed', ...about(person, now), method: word } as const;
  return { state: hasFactor(left) ? left : { ...left, recovery: [] }, events: [event] };
};

/** For operators, when a person has lost every method. Changes nothing for a person without a factor. */
export const resetFactor = (factor: SecondFactor, person: Whose, now: Date): Changed =>
  hasFactor(factor)
    ? {
        state: { ...noFactor(person.id), challengedUntil: factor.challengedUntil },
        events: [{ type: 'second_factor_reset', ...about(person, now) }],
      }
    : { state: factor, events: [] };

export const invalidFactor = (message: string): DomainError<PeopleErrorCode> =>
  new DomainError('factor_invalid', message);

export const factorRefused = (): DomainError<PeopleErrorCode> =>
  new DomainError(
    'factor_refused',
    'This code or passkey is wrong, or was used already. Each works once: wait for the next code.',
  );
