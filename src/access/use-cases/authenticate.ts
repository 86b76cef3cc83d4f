import { DomainError } from '../../kernel/domain-error.ts';
import type { AccessErrorCode } from '../domain/access-error.ts';
import { opens, type Scope } from '../domain/api-key.ts';
import { isWellFormedSecret } from '../domain/api-key-secret.ts';
import type { Ban } from '../domain/ban.ts';
import type { Limits, Plan } from '../domain/plan.ts';
import type { AccessPorts } from '../ports.ts';

export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly plan: Plan;
  readonly limits: Limits;
  readonly scopes: readonly Scope[];
  readonly ban: Ban | undefined;
}

/**
 * Mistyped, unknown, revoked and expired keys get the same answer, so that it does not reveal which keys exist. The
 * look-up uses a hash, so no comparison depends on the secret itself.
 * @throws DomainError `invalid_api_key`
 */
export const authenticate =
  ({ apiKeys, keyMaterial, clock }: Pick<AccessPorts, 'apiKeys' | 'keyMaterial' | 'clock'>) =>
  async (secret: string): Promise<Caller> => {
    if (!isWellFormedSecret(secret)) throw refused();
    const holder = await apiKeys.findBySecretHash(keyMaterial.sha256(secret));
    const now = clock.now();
    if (!holder || !opens(holder.key, now)) throw refused();
    const { key, plan, limits, secretUntil } = holder;
    if (secretUntil && secretUntil <= now) throw refused();
    const { id: keyId, accountId, scopes, ban } = key;
    return { accountId, keyId, plan, limits, scopes, ban };
  };

const refused = () =>
  new DomainError<AccessErrorCode>(
    'invalid_api_key',
    'This API key is not valid. Send a current key as "Authorization: Bearer pets_live_…".',
  );
