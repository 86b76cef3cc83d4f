import type { IncomingMessage } from 'node:http';
import { type CaDocument, type CaaGuard, type CaFault, problemText } from './gate-caa.ts';
import { type Pebble, type Answer, exchange } from './pebble.ts';

interface WantedOrder {
  readonly identifiers?: readonly { readonly value: string }[];
}

const pathOf = (url: string): string => new URL(url).pathname;

/**
 * The host of the order that a request belongs to, according to the documents before it; a wildcard with
 * its asterisk.
 */
class GateHosts {
  readonly #hosts = new Map<string, string>();

  of(path: string, payload: unknown): string | undefined {
    const { identifiers } = (payload ?? {}) as WantedOrder;
    return identifiers?.[0]?.value ?? this.#hosts.get(path);
  }

  /** @param host the host of the document */
  learn(host: string, { authorizations = [], challenges = [], ...order }: CaDocument): void {
    const { location, finalize, certificate } = order as Partial<Record<string, string>>;
    const urls = [location, finalize, certificate, ...authorizations];
    for (const url of [...urls, ...challenges.map((one) => one.url)]) {
      if (url !== undefined) this.#hosts.set(pathOf(url), host);
    }
  }
}

/** The content of a client's request (RFC 8555, section 6.2). Pebble verifies signatures. */
interface SignedBody {
  readonly bytes: Buffer;
  /** Undefined if nothing was posted, and for POST-as-GET. */
  readonly payload: unknown;
  /** URL of the account that signed. */
  readonly account: string | undefined;
}

const decoded = (text: string): unknown =>
  text === '' ? undefined : JSON.parse(Buffer.from(text, 'base64url').toString());

export const readSigned = (bytes: Buffer): SignedBody => {
  if (bytes.length === 0) return { bytes, payload: undefined, account: undefined };
  const jws = JSON.parse(bytes.toString()) as { protected: string; payload: string };
  const { kid } = decoded(jws.protected) as { kid?: string };
  return { bytes, payload: decoded(jws.payload), account: kid };
};

/** A renewal window suggested for all certificates (RFC 9773, section 4.2). */
export interface CannedWindow {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const challengePath = '/chalZ/';
const json = { 'content-type': 'application/json' };

/**
 * Pebble with two missing parts: CAA, and renewal windows on demand. It answers a challenge request only
 * after its validation, so that no client waits for the next poll.
 */
export class GatedAuthority {
  readonly #pebble: Pebble;
  readonly #guard: CaaGuard;
  readonly hosts = new GateHosts();
  window: CannedWindow | undefined;
  /** The offered profiles (draft-ietf-acme-profiles). Other profiles are refused. */
  profiles: readonly string[] | undefined;

  constructor(pebble: Pebble, guard: CaaGuard) {
    this.#pebble = pebble;
    this.#guard = guard;
  }

  async answerTo(
    request: IncomingMessage,
    { bytes, account, payload }: SignedBody,
  ): Promise<Answer> {
    const { url: path = '', method = '', headers } = request;
    if (this.window && path.startsWith('/renewal-info/')) {
      return answer(200, { ...json, ...this.window.headers }, this.window.body);
    }
    if (path === '/order-plz' && !this.#knowsProfile(payload)) {
      const problem = { type: 'invalidProfile', detail: 'no such profile' };
      return this.replaced({ match: /./, status: 400, problem });
    }
    const refused = payload === undefined ? undefined : await this.#guard.refuse(path, account);
    if (refused) return answer(200, { ...json, ...(await this.#nonce()) }, JSON.stringify(refused));
    const given = await this.#ask({ method, path, headers, body: bytes });
    if (!given.headers['content-type']?.startsWith('application/json')) return given;
    const { 'content-length': _length, ...others } = given.headers;
    const document = JSON.parse(given.body.toString()) as CaDocument;
    const host = this.hosts.of(path, payload);
    if (host !== undefined)
      this.hosts.learn(host, { ...document, location: given.headers.location });
    if (payload !== undefined && path.startsWith(challengePath))
      await this.#pebble.judged(path.slice(challengePath.length));
    const offer = this.#offer(path, headers.host);
    return answer(
      given.status,
      others,
      JSON.stringify({ ...this.#guard.amend(path, document), ...offer }),
    );
  }

  /** The result of a fault in place of the authority's answer. */
  async replaced({ status = 200, problem, body = '', headers }: CaFault): Promise<Answer> {
    const type = problem ? 'application/problem+json' : 'text/plain';
    const all = { 'content-type': type, ...(await this.#nonce()), ...headers };
    return answer(status, all, problem ? problemText(problem, status) : body);
  }

  #offer(path: string, host = ''): object {
    if (path !== '/dir') return {};
    const { window, profiles } = this;
    return {
      ...(window && { renewalInfo: `https://${host}/renewal-info` }),
      ...(profiles && { meta: { profiles: Object.fromEntries(profiles.map((one) => [one, ''])) } }),
    };
  }

  #knowsProfile(payload: unknown): boolean {
    const { profile } = (payload ?? {}) as { readonly profile?: string };
    return profile === undefined || (this.profiles ?? []).includes(profile);
  }

  async #nonce(): Promise<Record<string, string>> {
    const request = { method: 'HEAD', path: '/nonce-plz' };
    const given = await this.#ask(request).catch(() => undefined);
    const nonce = given?.headers['replay-nonce'];
    return typeof nonce === 'string' ? { 'replay-nonce': nonce } : {};
  }

  #ask(request: Omit<Parameters<typeof exchange>[0], 'port' | 'ca'>): Promise<Answer> {
    const { port, tls } = this.#pebble;
    return exchange({ port, ca: tls.cert, ...request });
  }
}

const answer = (status: number, headers: Answer['headers'], text: string): Answer => ({
  status,
  headers,
  body: Buffer.from(text),
});
