import { createPrivateKey } from 'node:crypto';
import type { AuthorityAccount } from '../../sites/ports.ts';
import type { AcmeAccount } from './acme-account.ts';
import type { Directory } from './acme-documents.ts';
import type { AcmeAnswer } from './acme-http.ts';
import { isProblem } from './acme-problem.ts';
import { keyAuthorization } from './jws.ts';
import { NoUsableAnswer } from './no-usable-answer.ts';
import type { SignedRequests } from './signed-requests.ts';

/** Posts in the name of our account, within the time that `signal` leaves. */
export class AcmeClient {
  readonly #requests: SignedRequests;
  readonly #account: AcmeAccount;

  constructor(requests: SignedRequests, account: AcmeAccount) {
    this.#requests = requests;
    this.#account = account;
  }

  directory(signal: AbortSignal): Promise<Directory> {
    return this.#requests.directory(signal);
  }

  /** Fetches everything that a post needs; if this fails, nothing was requested. @throws AcmeProblem, NoUsableAnswer */
  async prepare(signal: AbortSignal): Promise<void> {
    await this.#account.open(signal);
    await this.#requests.prepare(signal);
  }

  /** @throws AcmeProblem, NoUsableAnswer */
  get(url: string, signal: AbortSignal): Promise<AcmeAnswer> {
    return this.#requests.get(url, signal);
  }

  /** Whether the URL belongs to our directory's authority: nothing is signed for another one. */
  async has(url: string, signal: AbortSignal): Promise<boolean> {
    const { newOrder } = await this.#requests.directory(signal);
    return URL.canParse(url) && new URL(url).origin === new URL(newOrder).origin;
  }

  /**
   * Registers an account again, once, if the authority does not know it.
   * @param payload left out for POST-as-GET
   * @throws AcmeProblem, NoUsableAnswer
   */
  async post(url: string, signal: AbortSignal, payload?: object): Promise<AcmeAnswer> {
    if (!(await this.has(url, signal))) {
      throw new NoUsableAnswer('The certificate authority leads to another place.');
    }
    const account = await this.#account.open(signal);
    try {
      return await this.#postAs(account, url, signal, payload);
    } catch (error) {
      if (!isProblem(error, 'accountDoesNotExist')) throw error;
      const renewed = await this.#account.reopen(account, signal);
      return this.#postAs(renewed, url, signal, payload);
    }
  }

  async keyAuthorization(token: string, signal: AbortSignal): Promise<string> {
    const { privateKey } = await this.#account.open(signal);
    return keyAuthorization(token, createPrivateKey(privateKey));
  }

  #postAs(
    { url: accountUrl, privateKey }: AuthorityAccount,
    url: string,
    signal: AbortSignal,
    payload: object | undefined,
  ): Promise<AcmeAnswer> {
    const signer = { key: createPrivateKey(privateKey), accountUrl };
    return this.#requests.post(url, payload, signer, signal);
  }
}
