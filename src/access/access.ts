import { changePlan } from './domain/account.ts';
import { liftBan, revokeApiKey } from './domain/api-key.ts';
import type { Limits, Plan } from './domain/plan.ts';
import type { AccessPorts } from './ports.ts';
import { authenticate } from './use-cases/authenticate.ts';
import { createAccount } from './use-cases/create-account.ts';
import { createApiKey } from './use-cases/create-api-key.ts';
import { meterAddress, meterCaller, peekAddress } from './use-cases/meter-request.ts';
import { rotateKey } from './use-cases/rotate-api-key.ts';
import { showUsage } from './use-cases/show-usage.ts';

/** Who may call, and how much. */
export const access = (ports: AccessPorts) => ({
  authenticate: authenticate(ports),
  createAccount: createAccount(ports),
  createApiKey: createApiKey(ports),
  listAccounts: () => ports.accounts.list(),
  listApiKeys: (accountId: string) => ports.apiKeys.list(accountId),
  meterCaller: meterCaller(ports),
  meterAddress: meterAddress(ports),
  peekAddress: peekAddress(ports),
  rotateApiKey: rotateKey(ports),
  showUsage: showUsage(ports),
  /** @throws DomainError `account_not_found`, `account_invalid` */
  setPlan: (accountId: string, plan: Plan, ownLimits?: Limits) =>
    ports.accounts.change(accountId, (account) =>
      changePlan(account, plan, ownLimits, ports.clock.now()),
    ),
  /** @throws DomainError `api_key_not_found` */
  liftBan: (keyId: string) => ports.apiKeys.change(keyId, (key) => liftBan(key, ports.clock.now())),
  /** @throws DomainError `api_key_not_found` */
  revokeApiKey: (keyId: string) =>
    ports.apiKeys.change(keyId, (key) => revokeApiKey(key, ports.clock.now())),
});

export type Access = ReturnType<typeof access>;
