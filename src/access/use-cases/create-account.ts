import { openAccount, type Account } from '../domain/account.ts';
import type { Plan } from '../domain/plan.ts';
import type { AccessPorts } from '../ports.ts';
import { mintKey, type IssuedKey } from './create-api-key.ts';

/** Opens an account with its first API key. @throws DomainError `account_invalid`, `email_taken` */
export const createAccount =
  (ports: AccessPorts) =>
  async (draft: {
    readonly name: string;
    readonly email: string;
    readonly plan: Plan;
  }): Promise<{ readonly account: Account; readonly key: IssuedKey }> => {
    const now = ports.clock.now();
    const account = openAccount({ id: ports.ids.next('acct'), ...draft }, now);
    const { decision, issued } = mintKey(ports, { accountId: account.state.id, name: 'First key' });
    await ports.accounts.open(account, decision);
    return { account: account.state, key: issued };
  };
