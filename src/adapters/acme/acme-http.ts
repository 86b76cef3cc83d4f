import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request, type RequestOptions } from 'node:https';
import { beginningOf } from '../../kernel/connections.ts';

/** A long chain has some 10 kB. */
const largestBody = 256 * 1024;
/** Shorter than any server's keep-alive, so that no request meets a connection that is just being closed. */
const idleMs = 4_000;
/** Characters; an HTTP date has 29. */
const longestDate = 64;

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

/** The authority was unreachable or silent, or its answer is unusable. The message contains no secret. */
export class NoUsableAnswer extends Error {
  override readonly name = 'NoUsableAnswer';
}

/**
 * HTTPS to an authority (RFC 8555, section 6.1). Follows no redirect, because a signature is valid for one URL only.
 * Uses its own agent, so that no proxy from the environment sees the traffic.
 */
export class AcmeHttp {
  readonly #agent: Agent;

  /** @param trustedCa PEM of the only root to trust, instead of the usual ones */
  constructor(trustedCa?: string) {
    const ca = trustedCa === undefined ? {} : { ca: trustedCa };
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

/**
 * When to ask again (RFC 9110, section 10.2.3): seconds, or an HTTP date.
 * @returns undefined for what is neither
 */
export const retryAfter = (header: string | undefined, now: Date): Date | undefined => {
  if (header === undefined || header.length > longestDate) return undefined;
  const at = /^\d{1,10}$/.test(header)
    ? now.getTime() + Number(header) * 1000
    : Date.parse(/^[A-Z][a-z]+, /.test(header) ? header : '');
  return Number.isNaN(at) ? undefined : new Date(at);
};

/** How long that is from now, held between two bounds: an authority may ask for anything. */
export const waitMs = (
  header: string | undefined,
  now: Date,
  { least, most, otherwise }: { least: number; most: number; otherwise: number },
): number => {
  const at = retryAfter(header, now);
  if (at === undefined) return otherwise;
  return Math.min(Math.max(at.getTime() - now.getTime(), least), most);
};
