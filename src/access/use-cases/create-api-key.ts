import type { Decision } from '../../kernel/decision.ts';
import type { AccessEvent } from '../domain/access-event.ts';
import {
  admitApiKey,
  issueApiKey,
  scopes as allScopes,
  type ApiKey,
  type Scope,
} from '../domain/api-key.ts';
import { composeSecret, randomLength, secretHint } from '../domain/api-key-secret.ts';
import type { KeyToStore } from '../key-ports.ts';
import type { AccessPorts } from '../ports.ts';

/** A key with its secret, which is shown only once. */
export interface IssuedKey extends ApiKey {
  readonly secret: string;
}

export interface KeyWish {
  readonly accountId: string;
  readonly name: string;
  /** All of them by default. */
  readonly scopes?: readonly Scope[];
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
  { accountId, name, scopes = allScopes, expiresAt }: KeyWish,
): { decision: Decision<KeyToStore, AccessEvent>; issued: IssuedKey } => {
  const secret = composeSecret(keyMaterial.randomBase62(randomLength));
  const hint = secretHint(secret);
  const { state: key, events } = issueApiKey(
    { id: ids.next('key'), accountId, name, hint, scopes, expiresAt },
    clock.now(),
  );
  return {
    decision: { state: { key, secretHash: keyMaterial.sha256(secret) }, events },
    issued: { ...key, secret },
  };
};
