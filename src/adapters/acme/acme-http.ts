import { Agent, request, type RequestOptions } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { getCACertificates } from 'node:tls';
import { NoUsableAnswer } from './no-usable-answer.ts';

/** A long chain has some 10 kB. */
const largestBody = 256 * 1024;
/** Shorter than any server's keep-alive, so that no request meets a connection that is just being closed. */
const idleMs = 4_000;

export interface AcmeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface AcmeRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly url: string;
  readonly body?: string;
}

/**
 * HTTPS to an authority (RFC 8555, section 6.1). Follows no redirect, because a signature is valid for one URL only.
 * Uses its own agent, so that no proxy from the environment sees the traffic.
 */
export class AcmeHttp {
  readonly #agent: Agent;

  /** @param trustedCa PEM of a root to trust besides the usual ones */
  constructor(trustedCa?: string) {
    const ca = trustedCa === undefined ? {} : { ca: [...getCACertificates(), trustedCa] };
    this.#agent = new Agent({ keepAlive: true, timeout: idleMs, ...ca });
  }

  /** @throws NoUsableAnswer also when `signal` ends it */
  async send({ method, url, body }: AcmeRequest, signal: AbortSignal): Promise<AcmeAnswer> {
    const headers = {
      'user-agent': 'animal-store',
      'accept-language': 'en',
      ...(body !== undefined && { 'content-type': 'application/jose+json' }),
    };
    try {
      const options = { method, headers, agent: this.#agent, signal };
      const answer = await answerTo(new URL(url), options, body);
      return {
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        body: await textOf(answer),
      };
    } catch (error) {
      if (error instanceof NoUsableAnswer) throw error;
      if (signal.aborted) throw new NoUsableAnswer('The certificate authority did not answer.');
      const { code = 'no answer' } = error as NodeJS.ErrnoException;
      throw new NoUsableAnswer(`The certificate authority cannot be reached: ${code}.`);
    }
  }
}

const answerTo = (
  url: URL,
  options: RequestOptions,
  body: string | undefined,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request(url, options, resolve).on('error', reject).end(body);
  });

const textOf = async (answer: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > largestBody)
      throw new NoUsableAnswer("The certificate authority's answer is too long.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};
