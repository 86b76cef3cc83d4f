import type { AuthorityAccount, AuthorityAccounts } from '../../domains/certificate-ports.ts';
import { NoUsableAnswer } from './acme-http.ts';
import type { AcmeTransport } from './acme-transport.ts';
import { newPrivateKey } from './private-key.ts';
import { externalAccountBinding, postSigned, type ExternalAccount } from './signed-requests.ts';

export interface AccountSettings {
  /** Where the authority may write to. */
  readonly email?: string | undefined;
  readonly eab?: ExternalAccount | undefined;
}

/** Our account at one authority: created on first use, then shared by all processes. */
export class AcmeAccount {
  readonly #transport: AcmeTransport;
  readonly #accounts: AuthorityAccounts;
  readonly #settings: AccountSettings;
  #known: AuthorityAccount | undefined;
  #pending: Promise<AuthorityAccount> | undefined;

  constructor(transport: AcmeTransport, accounts: AuthorityAccounts, settings: AccountSettings) {
    this.#transport = transport;
    this.#accounts = accounts;
    this.#settings = settings;
  }

  async find(): Promise<AuthorityAccount | undefined> {
    this.#known ??= await this.#accounts.find(this.#transport.directoryUrl);
    return this.#known;
  }

  async open(signal: AbortSignal): Promise<AuthorityAccount> {
    const make = async (): Promise<AuthorityAccount> =>
      // Checked again: a concurrent step may have created it meanwhile.
      (await this.find()) ?? this.#register({ privateKey: await newPrivateKey() }, signal);
    return (await this.find()) ?? this.#once(make);
  }

  /**
   * Registers with the same key, so that concurrent processes get one account.
   * @param lost the authority does not know it
   */
  reopen(lost: AuthorityAccount, signal: AbortSignal): Promise<AuthorityAccount> {
    return this.#once(() => this.#register(lost, signal));
  }

  /** Concurrent steps share one registration. */
  #once(make: () => Promise<AuthorityAccount>): Promise<AuthorityAccount> {
    this.#pending ??= make()
      .then((account) => (this.#known = account))
      .finally(() => (this.#pending = undefined));
    return this.#pending;
  }

  /** @param of its key; `url` of an account that the authority forgot */
  async #register(
    { privateKey, url: lostUrl }: { readonly privateKey: string; readonly url?: string },
    signal: AbortSignal,
  ): Promise<AuthorityAccount> {
    const { newAccount: url } = await this.#transport.directory(signal);
    const { email, eab } = this.#settings;
    const payload = {
      termsOfServiceAgreed: true,
      ...(email !== undefined && { contact: [`mailto:${email}`] }),
      ...(eab && { externalAccountBinding: externalAccountBinding(eab, { privateKey }, url) }),
    };
    const request = { url, payload, signer: { privateKey } };
    const { headers } = await postSigned(this.#transport, request, signal);
    if (!headers.location) throw new NoUsableAnswer('The certificate authority named no account.');
    const account = { url: headers.location, privateKey };
    const { directoryUrl } = this.#transport;
    await this.#accounts.save(directoryUrl, account, lostUrl);
    return (await this.#accounts.find(directoryUrl)) ?? account;
  }
}
