import type { Accounts } from '../access/ports.ts';
import type { People } from '../access/people-ports.ts';
import { Recipients, type Recipient } from '../notifications/ports.ts';

/** The bridge to people, whom another context knows. */
export class KnownRecipients extends Recipients {
  readonly #people: Pick<People, 'list'>;
  readonly #accounts: Pick<Accounts, 'find'>;

  constructor(people: Pick<People, 'list'>, accounts: Pick<Accounts, 'find'>) {
    super();
    this.#people = people;
    this.#accounts = accounts;
  }

  override async of(accountId: string): Promise<readonly Recipient[]> {
    const people = await this.#people.list(accountId);
    const account = await this.#accounts.find(accountId);
    // Others may have been invited by somebody who only typed their address.
    return people
      .filter(({ provenAt, email }) => provenAt !== undefined || email === account?.email)
      .map(({ id: personId, email: to }) => ({ personId, to }));
  }

  override async accountName(accountId: string): Promise<string> {
    const account = await this.#accounts.find(accountId);
    if (!account) throw new Error(`there is no account ${accountId}`);
    return account.name;
  }
}
