import { readDocument, type Directory } from './acme-documents.ts';
import type { AcmeAnswer, AcmeHttp, AcmeRequest } from './acme-http.ts';
import { AcmeProblem, isProblem } from './acme-problem.ts';
import { signedRequest, type Signer } from './jws.ts';
import { NoUsableAnswer } from './no-usable-answer.ts';

/** Some authorities refuse good nonces now and then; a refusal always brings a new one. */
const tries = 6;
const keptNonces = 10;

/** Fetches an authority's directory, and signs posts to it (RFC 8555, section 6). */
export class SignedRequests {
  readonly directoryUrl: string;
  readonly #http: AcmeHttp;
  /** A nonce from each answer, newest last: these cost no extra request, and are current. */
  readonly #nonces: string[] = [];
  #directory: Directory | undefined;

  constructor(directoryUrl: string, http: AcmeHttp) {
    this.directoryUrl = directoryUrl;
    this.#http = http;
  }

  async directory(signal: AbortSignal): Promise<Directory> {
    this.#directory ??= readDocument('directory', (await this.get(this.directoryUrl, signal)).body);
    return this.#directory;
  }

  /** After an error: the directory may have changed. */
  forgetDirectory(): void {
    this.#directory = undefined;
  }

  /** @throws AcmeProblem, NoUsableAnswer */
  async get(url: string, signal: AbortSignal): Promise<AcmeAnswer> {
    return accepted(await this.#send({ method: 'GET', url }, signal));
  }

  /**
   * @param payload undefined for POST-as-GET
   * @throws AcmeProblem, NoUsableAnswer
   */
  async post(
    url: string,
    payload: object | undefined,
    signer: Signer,
    signal: AbortSignal,
  ): Promise<AcmeAnswer> {
    for (let left = tries - 1; ; left--) {
      const nonce = this.#nonces.pop() ?? (await this.#newNonce(signal));
      const body = signedRequest(payload, { url, nonce }, signer);
      const answer = await this.#send({ method: 'POST', url, body }, signal);
      try {
        return accepted(answer);
      } catch (error) {
        if (left === 0 || !isProblem(error, 'badNonce')) throw error;
      }
    }
  }

  /** Fetches in advance what the next post needs. @throws AcmeProblem, NoUsableAnswer */
  async prepare(signal: AbortSignal): Promise<void> {
    await this.directory(signal);
    if (this.#nonces.length === 0) this.#nonces.push(await this.#newNonce(signal));
  }

  async #newNonce(signal: AbortSignal): Promise<string> {
    const { newNonce } = await this.directory(signal);
    accepted(await this.#send({ method: 'HEAD', url: newNonce }, signal));
    const nonce = this.#nonces.pop();
    if (nonce === undefined) throw new NoUsableAnswer('The certificate authority gave no nonce.');
    return nonce;
  }

  async #send(request: AcmeRequest, signal: AbortSignal): Promise<AcmeAnswer> {
    const answer = await this.#http.send(request, signal);
    const nonce = String(answer.headers['replay-nonce'] ?? '');
    if (/^[\w-]{1,512}$/.test(nonce)) this.#nonces.push(nonce);
    if (this.#nonces.length > keptNonces) this.#nonces.shift();
    return answer;
  }
}

const accepted = (answer: AcmeAnswer): AcmeAnswer => {
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw new AcmeProblem(answer);
};
