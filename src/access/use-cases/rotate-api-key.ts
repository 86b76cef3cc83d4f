import { keyOf, rotateApiKey, type Overlap } from '../domain/api-key.ts';
import { composeSecret, randomLength, secretHint } from '../domain/api-key-secret.ts';
import type { AccessPorts } from '../ports.ts';
import type { IssuedKey } from './create-api-key.ts';

/**
 * Gives a key a new secret; the old one keeps working for the overlap. Ownership is checked under the key's lock.
 * @throws DomainError `api_key_not_found`, `api_key_invalid`
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
