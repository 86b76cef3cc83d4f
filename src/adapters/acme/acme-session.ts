import { createHash, createHmac, createPublicKey, sign } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import type { AuthorityAccount, AuthorityAccounts } from '../../domains/certificate-ports.ts';
import {
  NoUsableAnswer,
  readDocument,
  type AcmeAnswer,
  type Directory,
  isProblem,
} from './acme-answers.ts';
import { AcmeTransport, type AuthorityAddress } from './acme-transport.ts';
import { newPrivateKey } from './issued-certificate.ts';
import type { Clock } from '../../kernel/ports.ts';

export interface AccountSettings {
  readonly email?: string | undefined;
  readonly eab?: ExternalAccount | undefined;
}

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
      (await this.find()) ?? this.#register({ privateKey: await newPrivateKey() }, signal);
    return (await this.find()) ?? this.#once(make);
  }

  reopen(lost: AuthorityAccount, signal: AbortSignal): Promise<AuthorityAccount> {
    return this.#once(() => this.#register(lost, signal));
  }

  #once(make: () => Promise<AuthorityAccount>): Promise<AuthorityAccount> {
    this.#pending ??= make()
      .then((account) => (this.#known = account))
      .finally(() => (this.#pending = undefined));
    return this.#pending;
  }

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
    if (!headers.location)
      throw new NoUsableAnswer('The certificate authority returned no account URL.');
    const account = { url: headers.location, privateKey };
    const { directoryUrl } = this.#transport;
    await this.#accounts.save(directoryUrl, account, lostUrl);
    return (await this.#accounts.find(directoryUrl)) ?? account;
  }
}

/** Some authorities occasionally refuse valid nonces. Each refusal brings a new nonce. */
const tries = 6;

interface Signer {
  readonly url?: string;
  readonly privateKey: string;
}

interface ExternalAccount {
  readonly kid: string;
  readonly hmac: string;
}

interface SignedRequest {
  readonly url: string;
  readonly payload?: object | undefined;
  readonly signer: Signer;
}

const postSigned = async (
  transport: AcmeTransport,
  { url, payload, signer }: SignedRequest,
  signal: AbortSignal,
): Promise<AcmeAnswer> => {
  const identity = signer.url === undefined ? { jwk: jwkOf(signer) } : { kid: signer.url };
  const key = { key: signer.privateKey, dsaEncoding: 'ieee-p1363' } as const;
  for (let left = tries - 1; ; left--) {
    const header = { alg: 'ES256', ...identity, nonce: await transport.takeNonce(signal), url };
    const body = JSON.stringify(jws(header, payload, (input) => sign('sha256', input, key)));
    try {
      return await transport.send({ method: 'POST', url, body }, signal);
    } catch (error) {
      if (left === 0 || !isProblem(error, 'badNonce')) throw error;
    }
  }
};

const externalAccountBinding = (
  { kid, hmac }: ExternalAccount,
  signer: Signer,
  url: string,
): object => {
  const key = Buffer.from(hmac, 'base64url');
  return jws({ alg: 'HS256', kid, url }, jwkOf(signer), (input) =>
    createHmac('sha256', key).update(input).digest(),
  );
};

const keyAuthorization = (token: string, signer: Signer): string => {
  const thumbprint = createHash('sha256').update(JSON.stringify(jwkOf(signer)));
  return `${token}.${thumbprint.digest('base64url')}`;
};

/** The members are in the order that the thumbprint requires (RFC 7638, section 3). */
const jwkOf = ({ privateKey }: Signer): object => {
  const { crv, kty, x, y } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { crv, kty, x, y };
};

/** Flattened JSON serialization (RFC 7515, section 7.2.2). */
const jws = (
  header: object,
  payload: object | undefined,
  signatureOf: (input: Buffer) => Buffer,
): object => {
  const texts = [header, payload].map((value) =>
    Buffer.from(value ? JSON.stringify(value) : '').toString('base64url'),
  );
  const signature = signatureOf(Buffer.from(texts.join('.'))).toString('base64url');
  return { protected: texts[0], payload: texts[1], signature };
};

export interface AuthorityLook {
  readonly directory: Directory;
  readonly clock: { readonly time: number; readonly here: number };
  readonly account: 'none' | 'known' | 'unknown there';
}

/**
 * Reads the authority's state without changes.
 * @param account our stored account
 * @throws AcmeProblem, NoUsableAnswer
 */
export const lookAtAuthority = async (
  address: AuthorityAddress,
  account: AuthorityAccount | undefined,
  signal: AbortSignal,
): Promise<AuthorityLook> => {
  const transport = new AcmeTransport(address);
  const request = { method: 'GET', url: address.directoryUrl } as const;
  const { headers, body } = await transport.send(request, signal);
  const clock = { time: Date.parse(headers.date ?? ''), here: Date.now() };
  return {
    directory: readDocument('directory', body),
    clock,
    account: account ? await stateOf(account, transport, signal) : 'none',
  };
};

const stateOf = async (
  account: AuthorityAccount,
  transport: AcmeTransport,
  signal: AbortSignal,
): Promise<AuthorityLook['account']> => {
  try {
    await postSigned(transport, { url: account.url, signer: account }, signal);
    return 'known';
  } catch (error) {
    if (isProblem(error, 'accountDoesNotExist')) return 'unknown there';
    throw error;
  }
};

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

  /** If this fails, no order was requested. @throws AcmeProblem, NoUsableAnswer */
  async prepare(): Promise<void> {
    await this.#account.open(this.signal);
    await this.#transport.prepare(this.signal);
  }

  get(url: string): Promise<AcmeAnswer> {
    return this.#transport.send({ method: 'GET', url }, this.signal);
  }

  /** Checks whether the URL belongs to our authority, because we sign nothing for other servers. */
  async has(url: string): Promise<boolean> {
    const { newOrder } = await this.directory();
    return URL.canParse(url) && new URL(url).origin === new URL(newOrder).origin;
  }

  /** If the authority has forgotten the account, registers it again, once. @throws AcmeProblem, NoUsableAnswer */
  async post(url: string, payload?: object): Promise<AcmeAnswer> {
    if (!(await this.has(url))) {
      throw new NoUsableAnswer('The certificate authority returned a URL on another server.');
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
  /** URLs of accepted challenges. Some authorities show them as `pending` until they finish. */
  readonly proved: LRUCache<string, true>;
}
