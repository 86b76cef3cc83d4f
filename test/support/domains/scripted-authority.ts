import type { Clock } from '../../../src/kernel/ports.ts';
import type {
  AuthorityFailure,
  CertificateOrder,
  OrderState,
} from '../../../src/domains/domain/certificates/certificate-status.ts';
import type { Certificate } from '../../../src/domains/domain/certificates/renewal.ts';
import {
  CertificateAuthority,
  type OrderAnswer,
  type RenewalWindow,
} from '../../../src/domains/certificate-ports.ts';

export type AuthorityStep = 'order' | 'look' | 'prove' | 'finalize';

export interface ScriptedAuthoritySettings {
  readonly clock: Clock;
  /** Whether an order for this host is expected; any other order fails the test. */
  readonly expects: (host: string) => boolean;
  /** The answer at the host to a token. */
  readonly visit: (host: string, token: string) => Promise<string | undefined>;
  /** The TXT records at the target of the host's challenge name; none by default. */
  readonly texts?: (host: string) => Promise<readonly string[]>;
  readonly name?: string;
  readonly lifeMs?: number;
}

interface KnownOrder {
  readonly host: string;
  readonly token: string;
  method: CertificateOrder['method'];
  /** `checking` and `signing` end at the next poll. */
  stage: 'pending' | 'checking' | 'ready' | 'signing' | 'issued' | 'invalid';
  privateKey: string;
  certificate?: Certificate;
}

type Failed = Extract<OrderState, { kind: 'failed' }>;

/** Failures after which the authority has created no order. */
const refusals: readonly AuthorityFailure['reason'][] = [
  'rejected_name',
  'caa',
  'dns',
  'challenge',
];

const processing: OrderState = { kind: 'processing', askAgainAfterMs: 1000 };

const failed = (failure: Partial<AuthorityFailure> & Pick<AuthorityFailure, 'reason'>): Failed => ({
  kind: 'failed',
  failure: { detail: `It is ${failure.reason}.`, retryAt: undefined, ...failure },
});

type Made = Exclude<OrderAnswer, { kind: 'failed' }>;

/**
 * Visits hosts and issues like a real authority, but its certificates are only text. It fails on request, and throws on
 * an unexpected order.
 */
export class ScriptedAuthority extends CertificateAuthority {
  override readonly name: string;
  readonly log: string[] = [];
  readonly replaced: (string | undefined)[] = [];
  isSilent = false;
  readonly also: (readonly string[])[] = [];
  readonly #settings: ScriptedAuthoritySettings;
  readonly #orders = new Map<string, KnownOrder>();
  readonly #scripted: { step: AuthorityStep; failure: Failed; isDone: boolean }[] = [];
  readonly #windows = new Map<string, RenewalWindow>();
  readonly #replaced = new Set<string>();
  #keys = 0;
  #certificates = 0;

  constructor(settings: ScriptedAuthoritySettings) {
    super();
    this.#settings = settings;
    this.name = settings.name ?? 'authority.test';
  }

  failNext(step: AuthorityStep, failure: Parameters<typeof failed>[0]): void {
    this.#scripted.push({ step, failure: failed(failure), isDone: false });
  }

  loseAnswer(step: AuthorityStep): void {
    this.#scripted.push({ step, failure: failed({ reason: 'unavailable' }), isDone: true });
  }

  suggestRenewal(chain: string, window: RenewalWindow): void {
    this.#windows.set(chain, window);
  }

  /** From now on the authority offers no windows and counts every order. */
  forgetWindows(): void {
    this.#windows.clear();
  }

  /** Marks a certificate as already replaced: it has a window, but its renewal counts. */
  markReplaced(chain: string): void {
    this.#replaced.add(chain);
  }

  override issuers(): Promise<readonly string[]> {
    return Promise.resolve([this.name]);
  }

  override accountUri(): Promise<string | undefined> {
    const isKnown = this.log.length > 0;
    return Promise.resolve(isKnown ? 'https://authority.test/account/1' : undefined);
  }

  override newPrivateKey(): Promise<string> {
    return Promise.resolve(pem('PRIVATE KEY', `key ${++this.#keys}`));
  }

  override async order(
    host: string,
    replaces?: string,
    also: readonly string[] = [],
  ): Promise<OrderAnswer> {
    if (!this.#settings.expects(host)) throw new Error(`nobody expected an order for ${host}`);
    this.replaced.push(replaces);
    this.also.push(also);
    const answer = await this.#step('order', host, (): Promise<Made> => {
      if (replaces !== undefined && this.#replaced.has(replaces))
        return Promise.resolve({ kind: 'not_exempt' as const });
      const number = this.#orders.size + 1;
      const url = `https://${this.name}/order/${number}`;
      this.#orders.set(url, {
        host,
        token: `token-${number}`,
        stage: 'pending',
        privateKey: '',
        method: 'http-01',
      });
      const isExempt = replaces !== undefined && this.#windows.has(replaces);
      return Promise.resolve({ kind: 'ordered' as const, url, isExempt });
    });
    if (answer.kind !== 'failed') return answer;
    return { ...answer, counts: !refusals.includes(answer.failure.reason) };
  }

  override look(order: CertificateOrder): Promise<OrderState> {
    return this.#step('look', order.host, () => this.#stateOf(order));
  }

  override prove(order: CertificateOrder, challengeUrl: string): Promise<OrderState> {
    return this.#step('prove', order.host, () => {
      const known = this.#orders.get(order.url);
      if (known?.stage !== 'pending' || challengeUrl !== challengeOf(order)) {
        return this.#stateOf(order);
      }
      known.stage = 'checking';
      known.method = order.method;
      return Promise.resolve(processing);
    });
  }

  override finalize(order: CertificateOrder): Promise<OrderState> {
    return this.#step('finalize', order.host, () => {
      const known = this.#orders.get(order.url);
      if (known?.stage !== 'ready') return this.#stateOf(order);
      known.stage = 'signing';
      known.privateKey = order.privateKey;
      return Promise.resolve(processing);
    });
  }

  override renewalWindow(chain: string): Promise<RenewalWindow | 'silent' | undefined> {
    return Promise.resolve(this.isSilent ? 'silent' : this.#windows.get(chain));
  }

  async #step<T>(step: AuthorityStep, host: string, work: () => Promise<T>): Promise<T | Failed> {
    this.log.push(`${step} ${host}`);
    const at = this.#scripted.findIndex((its) => its.step === step);
    const [scripted] = at < 0 ? [] : this.#scripted.splice(at, 1);
    if (!scripted) return work();
    if (scripted.isDone) await work();
    return scripted.failure;
  }

  async #stateOf(order: CertificateOrder): Promise<OrderState> {
    const known = this.#orders.get(order.url);
    if (known?.host !== order.host) return failed({ reason: 'order_gone' });
    switch (known.stage) {
      case 'pending':
        return challengeState(order, known.token);
      case 'checking':
        known.stage = await this.#check(known);
        return this.#stateOf(order);
      case 'ready':
        return { kind: 'ready' };
      case 'signing':
        known.certificate = this.#sign(known);
        known.stage = 'issued';
        return this.#stateOf(order);
      case 'issued':
        if (!known.certificate || known.privateKey !== order.privateKey) {
          return failed({ reason: 'unavailable' });
        }
        return { kind: 'issued', certificate: structuredClone(known.certificate) };
      case 'invalid':
        return failed({ reason: 'challenge' });
    }
  }

  async #check({ host, token, method }: KnownOrder): Promise<'ready' | 'invalid'> {
    const { visit, texts } = this.#settings;
    const isRight =
      method === 'http-01'
        ? (await visit(host, token)) === keyAuthorizationOf(token)
        : (await texts?.(host))?.includes(valueOf(token));
    return isRight === true ? 'ready' : 'invalid';
  }

  #sign({ host, privateKey }: KnownOrder): Certificate {
    const { clock, lifeMs = 90 * 86_400_000 } = this.#settings;
    const notBefore = clock.now();
    const notAfter = new Date(notBefore.getTime() + lifeMs);
    const chain = pem('CERTIFICATE', `certificate ${++this.#certificates} of ${host}`);
    return { host, privateKey, chain, notBefore, notAfter };
  }
}

const pem = (label: string, text: string): string =>
  `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`;

const challengeOf = ({ url }: CertificateOrder): string => `${url}/challenge`;

const keyAuthorizationOf = (token: string): string => `${token}.account-1`;

const valueOf = (token: string): string => `value-of-${token}`;

const challengeState = (order: CertificateOrder, token: string): OrderState => ({
  kind: 'challenge',
  answers: [{ token, keyAuthorization: keyAuthorizationOf(token), textValue: valueOf(token) }],
  challengeUrl: challengeOf(order),
});
