import { openAccount, type Account } from '../../src/access/domain/account.ts';
import { issueApiKey, scopes, type ApiKey } from '../../src/access/domain/api-key.ts';
import { invitePerson, type Person } from '../../src/access/domain/person.ts';
import type { KeyToStore } from '../../src/access/ports.ts';
import { UuidIds } from '../../src/adapters/system/system-ports.ts';
import type { DomainEvent } from '../../src/kernel/decision.ts';
import type { StoragePorts } from './storage-ports.ts';
import { fixedTime } from './settable-clock.ts';

export const now = fixedTime('2026-03-01T10:00:00.123Z');
export const later = (milliseconds: number): Date => new Date(now.getTime() + milliseconds);

const ids = new UuidIds();

export const accountDecision = (draft: Partial<Account> = {}, at = later(0)) => {
  const id = ids.next('acct');
  return openAccount({ id, name: 'Zoo', email: `${id}@shop.example`, plan: 'free', ...draft }, at);
};

export const keyDecision = (accountId: string, draft: Partial<ApiKey> = {}, at = later(0)) => {
  const id = ids.next('key');
  const common = {
    name: 'Key',
    hint: 'pets_live_abcd…wxyz',
    scopes: [...scopes],
    projectId: undefined,
    expiresAt: undefined,
  };
  const { state: key, events } = issueApiKey({ id, accountId, ...common, ...draft }, at);
  const secretHash = id.replace('key_', '').padEnd(64, '0');
  return { state: { key, secretHash } satisfies KeyToStore, events };
};

export const personDecision = (accountId: string, draft: Partial<Person> = {}, at = later(0)) => {
  const id = ids.next('pers');
  return invitePerson({ id, accountId, email: `${id}@shop.example`, role: 'owner', ...draft }, at);
};

/** Empties the outbox. @returns its events, oldest first */
export const takeEvents = async ({
  outbox,
}: Pick<StoragePorts, 'outbox'>): Promise<readonly DomainEvent[]> => {
  const deliveries = await outbox.claim(now, later(1000), { limit: 1000 });
  await outbox.done(deliveries);
  return deliveries.map(({ stored }) => stored.event);
};

export const newAccount = async (
  stores: Pick<StoragePorts, 'accounts' | 'outbox'>,
): Promise<string> => {
  const account = accountDecision();
  const { id } = account.state;
  await stores.accounts.open(account, keyDecision(id), personDecision(id));
  await takeEvents(stores);
  return id;
};
