import { openAccount, type Account } from '../domain/account.ts';
import { invitePerson } from '../domain/person.ts';
import type { Plan } from '../domain/plan.ts';
import type { AccessPorts } from '../ports.ts';
import { mintKey, type IssuedKey } from './create-api-key.ts';

/**
 * Opens an account with its first API key; its owner can sign in.
 * @throws DomainError `account_invalid`
 */
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
    const { id: accountId, email } = account.state;
    const owner = invitePerson({ id: ports.ids.next('pers'), accountId, email }, now);
    await ports.accounts.open(account, decision, owner);
    return { account: account.state, key: issued };
  };
