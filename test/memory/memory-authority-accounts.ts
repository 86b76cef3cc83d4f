import { AuthorityAccounts, type AuthorityAccount } from '../../src/domains/certificate-ports.ts';

export class MemoryAuthorityAccounts extends AuthorityAccounts {
  readonly #accounts = new Map<string, AuthorityAccount>();

  override find(directoryUrl: string): Promise<AuthorityAccount | undefined> {
    return Promise.resolve(structuredClone(this.#accounts.get(directoryUrl)));
  }

  override save(directoryUrl: string, account: AuthorityAccount, lostUrl?: string): Promise<void> {
    if (this.#accounts.get(directoryUrl)?.url === lostUrl) {
      this.#accounts.set(directoryUrl, structuredClone(account));
    }
    return Promise.resolve();
  }
}
