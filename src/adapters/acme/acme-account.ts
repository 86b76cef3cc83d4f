import { createPrivateKey } from 'node:crypto';
import type { AuthorityAccount, AuthorityAccounts } from '../../sites/ports.ts';
import { externalAccountBinding, type ExternalAccount } from './jws.ts';
import { NoUsableAnswer } from './no-usable-answer.ts';
import { newPrivateKey } from './private-key.ts';
import type { SignedRequests } from './signed-requests.ts';

export interface AccountSettings {
  /** Where the authority may write to. */
  readonly email?: string | undefined;
  readonly eab?: ExternalAccount | undefined;
}

/** Our account at one authority: created on first use, then shared by all processes. */
export class AcmeAccount {
  readonly #requests: SignedRequests;
  readonly #accounts: AuthorityAccounts;
  readonly #settings: AccountSettings;
  #known: AuthorityAccount | undefined;
  #pending: Promise<AuthorityAccount> | undefined;

  constructor(requests: SignedRequests, accounts: AuthorityAccounts, settings: AccountSettings) {
    this.#requests = requests;
    this.#accounts = accounts;
    this.#settings = settings;
  }

  async find(): Promise<AuthorityAccount | undefined> {
    this.#known ??= await this.#accounts.find(this.#requests.directoryUrl);
    return this.#known;
  }

  async open(signal: AbortSignal): Promise<AuthorityAccount> {
    const known = await this.find();
    if (known) return known;
    // Checked again: a concurrent step may have created it meanwhile.
    const make = async (): Promise<AuthorityAccount> =>
      (await this.find()) ?? this.#register(await newPrivateKey(), undefined, signal);
    return this.#once(make);
  }

  /**
   * Registers with the same key, so that concurrent processes get one account.
   * @param lost the authority does not know it
   */
  reopen(lost: AuthorityAccount, signal: AbortSignal): Promise<AuthorityAccount> {
    return this.#once(() => this.#register(lost.privateKey, lost.url, signal));
  }

  /** Concurrent steps share one registration. */
  #once(make: () => Promise<AuthorityAccount>): Promise<AuthorityAccount> {
    this.#pending ??= make()
      .then((account) => (this.#known = account))
      .finally(() => (this.#pending = undefined));
    return this.#pending;
  }

  async #register(
    privateKey: string,
    lostUrl: string | undefined,
    signal: AbortSignal,
  ): Promise<AuthorityAccount> {
    const { newAccount } = await this.#requests.directory(signal);
    const { email, eab } = this.#settings;
    const key = createPrivateKey(privateKey);
    const payload = {
      termsOfServiceAgreed: true,
      ...(email !== undefined && { contact: [`mailto:${email}`] }),
      ...(eab && { externalAccountBinding: externalAccountBinding(eab, key, newAccount) }),
    };
    const { headers } = await this.#requests.post(newAccount, payload, { key }, signal);
    if (!headers.location) throw new NoUsableAnswer('The certificate authority named no account.');
    const account = { url: headers.location, privateKey };
    const { directoryUrl } = this.#requests;
    await this.#accounts.save(directoryUrl, account, lostUrl);
    return (await this.#accounts.find(directoryUrl)) ?? account;
  }
}
