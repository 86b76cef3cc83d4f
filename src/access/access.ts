import { changePlan } from './domain/account.ts';
import { revokeApiKey } from './domain/api-key.ts';
import type { Plan } from './domain/plan.ts';
import type { AccessPorts } from './ports.ts';
import { authenticate } from './use-cases/authenticate.ts';
import { createAccount } from './use-cases/create-account.ts';
import { createApiKey } from './use-cases/create-api-key.ts';

/** Who may call, and how much. */
export const access = (ports: AccessPorts) => ({
  authenticate: authenticate(ports),
  createAccount: createAccount(ports),
  createApiKey: createApiKey(ports),
  listAccounts: () => ports.accounts.list(),
  listApiKeys: (accountId: string) => ports.apiKeys.list(accountId),
  /** @throws DomainError `account_not_found` */
  setPlan: (accountId: string, plan: Plan) =>
    ports.accounts.change(accountId, (account) => changePlan(account, plan, ports.clock.now())),
  /** @throws DomainError `api_key_not_found` */
  revokeApiKey: (keyId: string) =>
    ports.apiKeys.change(keyId, (key) => revokeApiKey(key, ports.clock.now())),
});

export type Access = ReturnType<typeof access>;
