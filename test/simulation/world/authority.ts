import * as v from 'valibot';
import type { AcmeRequest } from '../../../src/adapters/acme/acme-transport.ts';
import { limits, publishedProfiles, type ProfileTerms } from './authority-limits.ts';
import {
  AuthorityOrders,
  type Account,
  type Authorization,
  type Challenge,
  type Order,
} from './authority-orders.ts';
import {
  Refused,
  refuse,
  shownProblem,
  fairWeather,
  type AuthorityWeather,
  readPayload,
  readSignedRequest,
  readsOnly,
  type AccountKey,
} from './authority-requests.ts';
import type { Outlook } from './authority-validation.ts';
import type { Chance } from './chance.ts';
import { pass } from './durations.ts';
import { NoUsableAnswer, type AcmeAnswer } from '../../../src/adapters/acme/acme-answers.ts';

export interface AuthoritySettings {
  readonly origin: string;
  readonly issuers: readonly string[];
  readonly outlook: Outlook;
  readonly chance: Chance;
  /** True time in milliseconds. */
  readonly now: () => number;
  readonly profiles?: Readonly<Record<string, ProfileTerms>>;
  /** Minimum and maximum duration of a validation and of an issuance, in milliseconds. */
  readonly workMs?: readonly [number, number];
  /** Called for each requested order, before any check. */
  readonly onOrder?: (names: readonly string[]) => void;
}

/** The number of nonces that stay valid, as in Boulder. */
const mostNonces = 65_536;
/** Retry-After of a window and of an order that is being issued, as in Boulder. */
const windowRetryS = 21_600;
const orderRetryS = 3;

const newAccount = v.object({
  termsOfServiceAgreed: v.optional(v.boolean()),
  onlyReturnExisting: v.optional(v.boolean()),
  contact: v.optional(v.array(v.pipe(v.string(), v.startsWith('mailto:')))),
});
const newOrder = v.strictObject({
  identifiers: v.pipe(v.array(v.object({ type: v.string(), value: v.string() })), v.minLength(1)),
  replaces: v.optional(v.string()),
  profile: v.optional(v.string()),
});
const finalization = v.strictObject({ csr: v.pipe(v.string(), v.regex(/^[\w-]+$/)) });
const nothing = v.strictObject({});

interface Answered {
  readonly status?: number;
  readonly headers?: AcmeAnswer['headers'];
  readonly body: object | string;
}

interface Signed {
  readonly account: Account;
  readonly ids: readonly string[];
  readonly payload: string;
}

/** A strict authority (RFC 8555, 9773, draft-ietf-acme-profiles) with the limits that Let's Encrypt publishes. */
export class Authority {
  readonly directoryUrl: string;
  readonly weather: AuthorityWeather = { ...fairWeather };
  /** Changes apply to certificates that are issued later. */
  readonly profiles: Partial<Record<string, ProfileTerms>>;
  readonly rejected = new Set<string>();
  readonly #settings: AuthoritySettings;
  readonly #orders: AuthorityOrders;
  readonly #accounts = new Map<string, Account>();
  readonly #nonces = new Set<string>();
  readonly #luck: Chance;

  constructor(settings: AuthoritySettings) {
    const { origin, chance, profiles = publishedProfiles, workMs = [1000, 3000] } = settings;
    this.directoryUrl = `${origin}/directory`;
    this.profiles = { ...profiles };
    this.#settings = settings;
    this.#luck = chance.of('requests');
    this.#orders = new AuthorityOrders(new URL(origin).hostname, {
      ...settings,
      profiles: this.profiles,
      workMs,
      rejected: this.rejected,
      exemptsOnlyInWindow: () => this.weather.exemptsOnlyInWindow,
    });
  }

  get orders() {
    return this.#orders.records;
  }

  get granted() {
    return this.#orders.granted;
  }

  get certificates() {
    return this.#orders.certificates.all;
  }

  /** Each time that the service exceeded a limit. */
  get over() {
    return this.#orders.buckets.over;
  }

  counts(): ReadonlyMap<string, number> {
    return this.#orders.buckets.counts(this.#settings.now());
  }

  /** Acts as before a mass revocation: all certificates issued until now are due for renewal at once. */
  moveWindows(): void {
    this.#orders.certificates.moveWindows(this.#settings.now());
  }

  setTerms(profile: string, changed: Partial<ProfileTerms>): void {
    const terms = this.profiles[profile];
    if (!terms) throw new Error(`There is no profile ${profile}.`);
    this.profiles[profile] = { ...terms, ...changed };
  }

  /** Issues certificates for names below a registered domain to other clients. */
  issueToOthers(registeredDomain: string, count: number): void {
    this.#orders.buckets.share(limits.perDomain, registeredDomain, this.#settings.now());
    for (let n = 0; n < count; n += 1)
      this.#orders.buckets.spend(limits.perDomain, registeredDomain, this.#settings.now());
  }

  /** Sends like `AcmeHttp`. @throws NoUsableAnswer */
  send(request: AcmeRequest, signal: AbortSignal): Promise<AcmeAnswer> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void =>
        reject(new NoUsableAnswer('The certificate authority did not answer.'));
      if (signal.aborted) {
        giveUp();
        return;
      }
      signal.addEventListener('abort', giveUp, { once: true });
      const done = (): void => signal.removeEventListener('abort', giveUp);
      this.#exchange(request).then(resolve, reject).finally(done);
    });
  }

  /** The authority acts even if the client has given up meanwhile. */
  async #exchange(request: AcmeRequest): Promise<AcmeAnswer> {
    const { weather } = this;
    await this.#delay();
    if (weather.away === 'silent') return new Promise(() => undefined);
    if (weather.away === 'refuses') throw unreachable('ECONNREFUSED');
    if (this.#luck.happens(weather.losesRequests)) throw unreachable('ECONNRESET');
    if (this.#luck.happens(weather.repeats)) await this.#answer(request);
    const answer = await this.#answer(request);
    await this.#delay();
    if (this.#luck.happens(weather.losesAnswers)) throw unreachable('ECONNRESET');
    return answer;
  }

  async #delay(): Promise<void> {
    const ms = this.#luck.next() * (this.weather.slowMs / 2);
    if (ms > 0) await pass(ms);
  }

  async #answer(request: AcmeRequest): Promise<AcmeAnswer> {
    try {
      this.#standIn();
      const { status = 200, headers, body } = await this.#act(request);
      const isText = typeof body === 'string';
      const type = isText ? 'application/pem-certificate-chain' : 'application/json';
      const all = { ...this.#headers(request, type), ...headers };
      return { status, headers: all, body: isText ? body : JSON.stringify(body) };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { problem, retryAfterS } = error;
      const headers = {
        ...this.#headers(request, 'application/problem+json'),
        ...(retryAfterS !== undefined && { 'retry-after': String(retryAfterS) }),
      };
      const body = JSON.stringify(shownProblem(problem));
      return { status: problem.status, headers, body };
    }
  }

  /** Answers in place of the authority, like a server in front of it. */
  #standIn(): void {
    const { failing, busy, retryAfterS } = this.weather;
    if (this.#luck.happens(failing)) refuse('serverInternal', 'The server had an error', 500);
    if (!this.#luck.happens(busy)) return;
    const problem = { type: 'rateLimited', detail: 'Service busy; retry later.', status: 503 };
    throw new Refused(problem, retryAfterS);
  }

  #headers({ method, url }: AcmeRequest, type: string): AcmeAnswer['headers'] {
    const date = new Date(this.#settings.now()).toUTCString();
    const isNew = method === 'POST' || url === this.#url('new-nonce');
    return { date, 'content-type': type, ...(isNew && { 'replay-nonce': this.#newNonce() }) };
  }

  #newNonce(): string {
    const nonces = this.#settings.chance.of('nonces');
    const bytes = Array.from({ length: 16 }, () => nonces.int(256));
    const nonce = Buffer.from(bytes).toString('base64url');
    const [oldest] = this.#nonces;
    if (this.#nonces.size >= mostNonces && oldest !== undefined) this.#nonces.delete(oldest);
    this.#nonces.add(nonce);
    return nonce;
  }

  #url(...parts: readonly (string | number)[]): string {
    return [this.#settings.origin, 'acme', ...parts].join('/');
  }

  async #act(request: AcmeRequest): Promise<Answered> {
    const { method, url } = request;
    if (method === 'POST') return this.#actSigned(request);
    if (url === this.directoryUrl && method === 'GET') return { body: this.#directory() };
    if (url === this.#url('new-nonce')) return { body: '' };
    const windows = `${this.#url('renewal-info')}/`;
    if (method === 'GET' && url.startsWith(windows)) return this.#window(url.slice(windows.length));
    return refuse('malformed', 'Method not allowed', 405);
  }

  #directory(): object {
    const profiles = Object.keys(this.profiles).map((name) => [name, `The profile ${name}`]);
    return {
      newNonce: this.#url('new-nonce'),
      newAccount: this.#url('new-acct'),
      newOrder: this.#url('new-order'),
      renewalInfo: this.#url('renewal-info'),
      meta: {
        caaIdentities: this.#settings.issuers,
        profiles: Object.fromEntries(profiles) as object,
      },
    };
  }

  #window(id: string): Answered {
    const certificate = this.#orders.certificates.find(id);
    if (!certificate) return refuse('malformed', 'Certificate not found', 404);
    const { start, end } = this.#orders.certificates.window(certificate, this.#settings.now());
    const suggestedWindow = { start: timeText(start), end: timeText(end) };
    return { headers: { 'retry-after': String(windowRetryS) }, body: { suggestedWindow } };
  }

  async #actSigned({ url, body }: AcmeRequest): Promise<Answered> {
    const { payload, key, kid } = readSignedRequest(body, {
      url,
      takeNonce: (nonce) =>
        this.#nonces.delete(nonce) && !this.#luck.happens(this.weather.refusesNonces),
      keyOf: (account) => this.#accounts.get(account),
    });
    if (url === this.#url('new-acct')) return this.#newAccount(key, payload);
    const account = this.#accounts.get(kid ?? '');
    if (!account) return refuse('malformed', 'Only a new account may be asked for with a key');
    const [kind = '', ...ids] = this.#path(url);
    const signed = { account, ids, payload };
    switch (kind) {
      case 'acct':
        return { body: { status: 'valid' } };
      case 'new-order':
        return this.#newOrder(signed);
      case 'order':
        return this.#order(signed);
      case 'authz':
        return this.#authorization(signed);
      case 'chall':
        return this.#challenge(signed);
      case 'finalize':
        return this.#finalize(signed);
      case 'cert':
        return this.#certificate(signed);
      default:
        return refuse('malformed', 'Page not found', 404);
    }
  }

  /** The path after `/acme/`; empty for other URLs. */
  #path(url: string): readonly string[] {
    const start = this.#url('');
    return url.startsWith(start) ? url.slice(start.length).split('/') : [];
  }

  #newAccount(key: AccountKey, payload: string): Answered {
    const { onlyReturnExisting, termsOfServiceAgreed } = readPayload(newAccount, payload);
    const known = [...this.#accounts.values()].find((one) => one.thumbprint === key.thumbprint);
    if (known) return { headers: { location: known.url }, body: { status: 'valid' } };
    if (onlyReturnExisting) return refuse('accountDoesNotExist', 'No account exists with this key');
    if (!termsOfServiceAgreed) return refuse('malformed', 'must agree to terms of service');
    const account = { ...key, url: this.#url('acct', this.#accounts.size + 1) };
    this.#accounts.set(account.url, account);
    return { status: 201, headers: { location: account.url }, body: { status: 'valid' } };
  }

  #newOrder({ account, payload }: Signed): Answered {
    const { identifiers, ...wanted } = readPayload(newOrder, payload);
    if (identifiers.some(({ type }) => type !== 'dns')) {
      return refuse('unsupportedIdentifier', 'NewOrder request included unsupported identifier');
    }
    const names = identifiers.map(({ value }) => value);
    this.#settings.onOrder?.(names);
    const order = this.#orders.place(account, { names, ...wanted });
    if (this.weather.leaves) this.weather.away = 'refuses';
    return { status: 201, ...this.#orderAnswer(order) };
  }

  #order({ account, ids: [id], payload }: Signed): Answered {
    readsOnly(payload);
    return this.#orderAnswer(this.#orders.find(account, Number(id)));
  }

  #orderAnswer(order: Order): Answered {
    const { id, names, profile, expiresAt, authorizations, certificate } = order;
    const status = this.#orders.statusOf(order);
    const headers = {
      location: this.#url('order', id),
      ...(status === 'processing' && { 'retry-after': String(orderRetryS) }),
    };
    const body = {
      status,
      expires: timeText(expiresAt),
      identifiers: names.map((value) => ({ type: 'dns', value })),
      ...(profile !== undefined && { profile }),
      authorizations: authorizations.map((one) => this.#url('authz', one.id)),
      finalize: this.#url('finalize', id),
      ...(certificate && { certificate: this.#url('cert', certificate.serial) }),
    };
    return { headers, body };
  }

  #authorization({ account, ids: [id], payload }: Signed): Answered {
    readsOnly(payload);
    const authorization = this.#orders.findAuthorization(account, Number(id));
    const { name, status, expiresAt, challenges } = authorization;
    // A decided authorization shows only the challenge that decided it.
    const shownOnes = challenges.filter((one) => status === 'pending' || one.status !== 'pending');
    const body = {
      identifier: { type: 'dns', value: name.replace(/^\*\./, '') },
      ...(name.startsWith('*.') && { wildcard: true }),
      status,
      expires: timeText(expiresAt),
      challenges: shownOnes.map((one) => this.#challengeDocument(authorization, one)),
    };
    return { body };
  }

  #challengeDocument({ id }: Authorization, { type, token, status, error }: Challenge): object {
    const url = this.#url('chall', id, type);
    return { type, url, token, status, ...(error && { error: shownProblem(error) }) };
  }

  #challenge({ account, ids: [id, type], payload }: Signed): Answered {
    const authorization = this.#orders.findAuthorization(account, Number(id));
    const challenge = authorization.challenges.find((one) => one.type === type);
    if (!challenge) return refuse('malformed', 'No such challenge', 404);
    if (payload !== '') {
      readPayload(nothing, payload);
      this.#orders.prove(authorization, challenge);
    }
    return { body: this.#challengeDocument(authorization, challenge) };
  }

  async #finalize({ account, ids: [id], payload }: Signed): Promise<Answered> {
    const order = this.#orders.find(account, Number(id));
    const { csr } = readPayload(finalization, payload);
    await this.#orders.finalize(order, Buffer.from(csr, 'base64url'));
    return this.#orderAnswer(order);
  }

  #certificate({ account, ids: [serial = ''], payload }: Signed): Answered {
    readsOnly(payload);
    const chain = this.#orders.certificates.chain(serial, account.url);
    return chain === undefined
      ? refuse('malformed', 'Certificate not found', 404)
      : { body: chain };
  }
}

const timeText = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

const unreachable = (code: string): NoUsableAnswer =>
  new NoUsableAnswer(`The certificate authority cannot be reached: ${code}.`);
