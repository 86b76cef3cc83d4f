import type { IncomingMessage } from 'node:http';
import { Agent, request, type RequestOptions } from 'node:https';
import {
  type AcmeAnswer,
  NoUsableAnswer,
  readDocument,
  type Directory,
  AcmeProblem,
} from './acme-answers.ts';
import { beginningOf } from '../../kernel/incoming.ts';

const keptNonces = 10;
const identities = { deadlineMs: 5_000, againMs: 60_000 } as const;

export interface AuthorityAddress {
  readonly directoryUrl: string;
  /** PEM root of the authority's TLS certificate, if it is not publicly trusted. */
  readonly trustedCa?: string | undefined;
  readonly http?: Pick<AcmeHttp, 'send'> | undefined;
}

export class AcmeTransport {
  readonly directoryUrl: string;
  readonly #http: Pick<AcmeHttp, 'send'>;
  readonly #nonces: string[] = [];
  #directory: Directory | undefined;
  #caaIdentities: readonly string[] | undefined;
  #asked: { readonly at: number; readonly ended: Promise<unknown> } | undefined;

  constructor({ directoryUrl, trustedCa, http }: AuthorityAddress) {
    this.directoryUrl = directoryUrl;
    this.#http = http ?? new AcmeHttp(trustedCa);
  }

  async send(request: AcmeRequest, signal: AbortSignal): Promise<AcmeAnswer> {
    const answer = await this.#http.send(request, signal);
    const nonce = String(answer.headers['replay-nonce'] ?? '');
    if (/^[\w-]{1,512}$/.test(nonce)) this.#nonces.push(nonce);
    if (this.#nonces.length > keptNonces) this.#nonces.shift();
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw new AcmeProblem(answer);
  }

  async directory(signal: AbortSignal): Promise<Directory> {
    if (this.#directory) return this.#directory;
    const { body } = await this.send({ method: 'GET', url: this.directoryUrl }, signal);
    this.#directory = readDocument('directory', body);
    this.#caaIdentities = this.#directory.meta?.caaIdentities ?? [];
    return this.#directory;
  }

  /** The names in CAA records (RFC 8555, section 9.7.6). @returns undefined before the first answer */
  async caaIdentities(now: Date): Promise<readonly string[] | undefined> {
    if (this.#caaIdentities === undefined) await this.#askIdentities(now.getTime());
    return this.#caaIdentities;
  }

  async #askIdentities(now: number): Promise<void> {
    const passedMs = now - (this.#asked?.at ?? -Infinity);
    // A negative value means that the clock was set back.
    if (passedMs < 0 || passedMs >= identities.againMs) {
      const directory = this.directory(AbortSignal.timeout(identities.deadlineMs));
      this.#asked = { at: now, ended: directory.catch(() => undefined) };
    }
    await this.#asked?.ended;
  }

  forgetDirectory(): void {
    this.#directory = undefined;
  }

  /** Each nonce is valid for one request. @throws AcmeProblem, NoUsableAnswer */
  async takeNonce(signal: AbortSignal): Promise<string> {
    const kept = this.#nonces.pop();
    if (kept !== undefined) return kept;
    const { newNonce } = await this.directory(signal);
    await this.send({ method: 'HEAD', url: newNonce }, signal);
    const nonce = this.#nonces.pop();
    if (nonce === undefined)
      throw new NoUsableAnswer('The certificate authority returned no nonce.');
    return nonce;
  }

  async prepare(signal: AbortSignal): Promise<void> {
    await this.directory(signal);
    this.#nonces.push(await this.takeNonce(signal));
  }
}

const largestBody = 256 * 1024;
/** Shorter than any server's keep-alive, so that no request meets a closing connection. */
const idleMs = 4_000;
export interface AcmeRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly url: string;
  readonly body?: string;
}

/** Follows no redirects, because a signature is valid for only one URL (RFC 8555, section 6.1). Uses no proxy. */
class AcmeHttp {
  readonly #agent: Agent;

  constructor(trustedCa?: string) {
    const ca = trustedCa === undefined ? {} : { ca: trustedCa };
    this.#agent = new Agent({ keepAlive: true, timeout: idleMs, ...ca });
  }

  async send({ method, url, body }: AcmeRequest, signal: AbortSignal): Promise<AcmeAnswer> {
    const headers = {
      'user-agent': 'animal-store',
      'accept-language': 'en',
      ...(body !== undefined && { 'content-type': 'application/jose+json' }),
    };
    try {
      const options = { method, headers, agent: this.#agent, signal };
      const answer = await answerTo(new URL(url), options, body);
      const status = answer.statusCode ?? 0;
      return { status, headers: answer.headers, body: await textOf(answer) };
    } catch (error) {
      if (error instanceof NoUsableAnswer) throw error;
      if (signal.aborted) throw new NoUsableAnswer('The certificate authority did not answer.');
      const { code = 'no answer' } = error as NodeJS.ErrnoException;
      throw new NoUsableAnswer(`The certificate authority cannot be reached: ${code}.`);
    }
  }
}

const answerTo = (url: URL, options: RequestOptions, body?: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request(url, options, resolve).on('error', reject).end(body);
  });

const textOf = async (answer: IncomingMessage): Promise<string> => {
  const bytes = await beginningOf(answer, largestBody);
  if (bytes.length <= largestBody) return bytes.toString();
  throw new NoUsableAnswer("The certificate authority's answer is too long.");
};
