import { beforeEach, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import { sessionMs } from '../../../src/access/domain/session.ts';
import type { SignedIn } from '../../../src/access/people-ports.ts';
import type { SettableClock } from '../../support/settable-clock.ts';
import type { DomainEvent } from '../../../src/kernel/decision.ts';
import { accessLabs } from '../../support/access/access-lab.ts';

const accessLab = accessLabs();
const now = new Date('2026-03-01T10:00:00Z');
const from = { network: '192.0.2.1', browser: 'Firefox' };

let face: Access;
let clock: SettableClock;
let happened: () => Promise<readonly DomainEvent[]>;
let accountId: string;
beforeEach(async () => {
  ({ face, clock, happened } = await accessLab(now));
  const draft = { name: 'Zoo', email: 'owner@zoo.example', plan: 'pro' } as const;
  accountId = (await face.createAccount(draft)).account.id;
});

/** @returns the secret of a new session */
const signIn = async (email = 'owner@zoo.example'): Promise<string> => {
  const { secret } = await face.signInLinkFor(email);
  return (await face.signInByLink(secret, from)).secret;
};
const isIn = async (secret: string) => (await face.findSession(secret)) !== undefined;

const signedInBy = async (secret: string): Promise<SignedIn> => {
  const signedIn = await face.findSession(secret);
  if (!signedIn) throw new Error('nobody is signed in by this secret');
  return signedIn;
};

test('all other sessions of the same person end, each with an event, and nobody else is signed out', async () => {
  const secrets = [await signIn(), await signIn(), await signIn()];
  await face.invite(accountId, 'keeper@zoo.example');
  const keeper = await signIn('keeper@zoo.example');
  const mine = await signedInBy(secrets[1] ?? '');
  expect(await face.revokeOtherSessions(mine)).toBe(2);
  expect(await Promise.all([...secrets, keeper].map(isIn))).toEqual([false, true, false, true]);
  expect((await happened()).filter(({ type }) => type === 'session_revoked')).toHaveLength(2);
  expect(await face.revokeOtherSessions(mine)).toBe(0);
});

test('an expired session is not ended again', async () => {
  await signIn();
  clock.advance(sessionMs);
  const mine = await signedInBy(await signIn());
  expect(await face.revokeOtherSessions(mine)).toBe(0);
  expect((await happened()).filter(({ type }) => type === 'session_revoked')).toEqual([]);
});

test('a session that ends elsewhere meanwhile is not an error', async () => {
  await signIn();
  const mine = await signedInBy(await signIn());
  await Promise.all([face.revokeOtherSessions(mine), face.revokeOtherSessions(mine)]);
  const left = await face.listSessions(mine.person.id);
  expect(left.map(({ id }) => id)).toEqual([mine.session.id]);
});
