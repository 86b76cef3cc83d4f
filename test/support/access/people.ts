import { randomBytes } from 'node:crypto';
import type { Person } from '../../../src/access/domain/person.ts';
import { startSession, type Session } from '../../../src/access/domain/session.ts';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import { later, personDecision } from '../accounts.ts';
import type { StoragePorts } from '../storage-ports.ts';

const ids = new UuidIds();

type PeoplePorts = Pick<StoragePorts, 'people' | 'sessions' | 'signInLinks'>;

export const newHash = (): string => randomBytes(32).toString('hex');

export interface KnownSession {
  readonly session: Session;
  readonly secretHash: string;
}

export const sessionOf = (
  personId: string,
  draft: Partial<Session> = {},
  at = later(0),
): KnownSession => {
  const usual = {
    id: ids.next('sess'),
    way: 'password',
    browser: 'Firefox',
    network: '192.0.2.1',
  } as const;
  const session = { ...startSession({ ...usual, personId }, at), ...draft };
  return { session, secretHash: newHash() };
};

export const newLink = async (
  { signInLinks }: Pick<StoragePorts, 'signInLinks'>,
  personId: string,
  endsAt = later(60_000),
  resetsPassword = false,
): Promise<string> => {
  const secretHash = newHash();
  await signInLinks.add({ secretHash, personId, endsAt, resetsPassword }, []);
  return secretHash;
};

export const letIn = async (ports: PeoplePorts, known: KnownSession): Promise<KnownSession> => {
  const { personId, endsAt } = known.session;
  const linkHash = await newLink(ports, personId, endsAt);
  await ports.sessions.start({ ...known, proof: { way: 'link', linkHash }, events: [] });
  return known;
};

/** Ends all sessions and links without events and leaves only the password, for a person with a proven address. */
export const givePassword = async (
  ports: PeoplePorts,
  personId: string,
  passwordHash: string,
): Promise<void> => {
  const { session } = await letIn(ports, sessionOf(personId, { resetsPassword: true }));
  await ports.people.changePassword(personId, session.id, (its) => {
    return { state: { ...its, passwordHash }, events: [] };
  });
  await ports.sessions.end(personId, session.id, []);
};

export const signedInPerson = async (
  ports: PeoplePorts,
  accountId: string,
): Promise<KnownSession & { readonly person: Person; readonly linkHash: string }> => {
  const decision = personDecision(accountId);
  const { state: person } = decision;
  await ports.people.add(decision);
  const known = await letIn(ports, sessionOf(person.id));
  const joined = { ...person, joinedAt: known.session.startedAt };
  return { person: joined, ...known, linkHash: await newLink(ports, person.id) };
};
