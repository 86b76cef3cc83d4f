import { keyAuthorization, postSigned, type AcmeAccount, type Signer } from './acme-account.ts';
import { NoUsableAnswer, type AcmeAnswer, type Directory } from './acme-documents.ts';
import type { AcmeTransport } from './acme-transport.ts';
import { isProblem } from './acme-failure.ts';
import type { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/ports.ts';

/** All requests of one step, in the name of our account and within one deadline. */
export class AcmeSession {
  readonly #transport: AcmeTransport;
  readonly #account: AcmeAccount;
  readonly signal: AbortSignal;

  constructor(transport: AcmeTransport, account: AcmeAccount, deadlineMs: number) {
    this.#transport = transport;
    this.#account = account;
    this.signal = AbortSignal.timeout(deadlineMs);
  }

  directory(): Promise<Directory> {
    return this.#transport.directory(this.signal);
  }

  /** Fetches everything that a post needs; if this fails, nothing was requested. @throws AcmeProblem, NoUsableAnswer */
  async prepare(): Promise<void> {
    await this.#account.open(this.signal);
    await this.#transport.prepare(this.signal);
  }

  /** @throws AcmeProblem, NoUsableAnswer */
  get(url: string): Promise<AcmeAnswer> {
    return this.#transport.send({ method: 'GET', url }, this.signal);
  }

  /** Whether the URL belongs to our directory's authority: nothing is signed for another one. */
  async has(url: string): Promise<boolean> {
    const { newOrder } = await this.directory();
    return URL.canParse(url) && new URL(url).origin === new URL(newOrder).origin;
  }

  /**
   * Registers an account again, once, if the authority does not know it.
   * @param payload left out for POST-as-GET
   * @throws AcmeProblem, NoUsableAnswer
   */
  async post(url: string, payload?: object): Promise<AcmeAnswer> {
    if (!(await this.has(url))) {
      throw new NoUsableAnswer('The certificate authority gave a URL of another server.');
    }
    const account = await this.#account.open(this.signal);
    const postAs = (signer: Signer): Promise<AcmeAnswer> =>
      postSigned(this.#transport, { url, payload, signer }, this.signal);
    try {
      return await postAs(account);
    } catch (error) {
      if (!isProblem(error, 'accountDoesNotExist')) throw error;
      return postAs(await this.#account.reopen(account, this.signal));
    }
  }

  async keyAuthorization(token: string): Promise<string> {
    return keyAuthorization(token, await this.#account.open(this.signal));
  }
}

export interface Step {
  readonly session: AcmeSession;
  readonly clock: Clock;
  /** URLs of challenges that were accepted: some authorities show them as `pending` until they are done. */
  readonly proved: LRUCache<string, true>;
}
