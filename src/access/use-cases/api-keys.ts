import type { AccessEvent } from '../domain/access-event.ts';
import {
  admitApiKey,
  type ApiKey,
  composeSecret,
  defaultScopes,
  issueApiKey,
  keyOf,
  randomLength,
  rotateApiKey,
  type Scope,
  secretHint,
} from '../domain/api-key.ts';
import type { AccessPorts, KeyToStore } from '../ports.ts';
import type { Decision } from '../../kernel/decision.ts';
import type { Overlap } from '../../kernel/overlap.ts';

export interface IssuedKey extends ApiKey {
  readonly secret: string;
}

export interface KeyWish {
  readonly accountId: string;
  readonly name: string;
  readonly scopes?: readonly Scope[];
  readonly projectId?: string;
  readonly expiresAt?: Date;
}

/** @throws DomainError `api_key_invalid`, `api_keys_full`, `account_not_found` */
export const createApiKey =
  (ports: Pick<AccessPorts, 'apiKeys' | 'keyMaterial' | 'clock' | 'ids'>) =>
  async (wish: KeyWish): Promise<IssuedKey> => {
    const { decision, issued } = mintKey(ports, wish);
    await ports.apiKeys.add(decision, admitApiKey);
    return issued;
  };

export const mintKey = (
  { keyMaterial, clock, ids }: Pick<AccessPorts, 'keyMaterial' | 'clock' | 'ids'>,
  { accountId, name, scopes = defaultScopes, projectId, expiresAt }: KeyWish,
): { decision: Decision<KeyToStore, AccessEvent>; issued: IssuedKey } => {
  const secret = composeSecret(keyMaterial.randomBase62(randomLength));
  const hint = secretHint(secret);
  const { state: key, events } = issueApiKey(
    { id: ids.next('key'), accountId, name, hint, scopes, projectId, expiresAt },
    clock.now(),
  );
  return {
    decision: { state: { key, secretHash: keyMaterial.sha256(secret) }, events },
    issued: { ...key, secret },
  };
};

/**
 * Checks ownership under the key's lock.
 * @throws DomainError `api_key_not_found`, `api_key_invalid`, `account_deleted`
 */
export const rotateKey =
  ({ apiKeys, keyMaterial, clock }: Pick<AccessPorts, 'apiKeys' | 'keyMaterial' | 'clock'>) =>
  async (keyId: string, overlap: Overlap = '24h', accountId?: string): Promise<IssuedKey> => {
    const secret = composeSecret(keyMaterial.randomBase62(randomLength));
    const now = clock.now();
    const key = await apiKeys.rotate(keyId, keyMaterial.sha256(secret), (current) =>
      rotateApiKey(keyOf(accountId, current), secretHint(secret), overlap, now),
    );
    return { ...key, secret };
  };
