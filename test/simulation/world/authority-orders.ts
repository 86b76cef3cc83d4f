import {
  Buckets,
  caaAgainMs,
  limits,
  renewalMs,
  type ProfileTerms,
  type Spending,
  baseOf,
  checkNames,
  registeredDomains,
} from './authority-limits.ts';
import { Refused, refuse, type ProblemDocument, type AccountKey } from './authority-requests.ts';
import { checkCaa, validate, type Outlook, type Question } from './authority-validation.ts';
import { readCertificateRequest } from './der.ts';
import type { Chance } from './chance.ts';
import {
  IssuedCertificates,
  type IssuedCertificate,
  type WantedCertificate,
} from './issued-certificates.ts';
import { pass } from './durations.ts';

export interface Account extends AccountKey {
  readonly url: string;
}

export interface Challenge {
  readonly type: 'http-01' | 'dns-01';
  readonly token: string;
  status: 'pending' | 'processing' | 'valid' | 'invalid';
  error?: ProblemDocument;
}

export interface Authorization {
  readonly id: number;
  readonly account: Account;
  readonly name: string;
  readonly terms: ProfileTerms;
  readonly challenges: readonly Challenge[];
  status: 'pending' | 'valid' | 'invalid';
  expiresAt: number;
  caaAt: number;
}

export interface Order {
  readonly id: number;
  readonly account: Account;
  readonly names: readonly string[];
  readonly profile: string | undefined;
  readonly kind: string;
  readonly isExempt: boolean;
  readonly expiresAt: number;
  readonly authorizations: readonly Authorization[];
  isIssuing: boolean;
  certificate?: IssuedCertificate;
}

export interface WantedOrder {
  readonly names: readonly string[];
  readonly replaces?: string | undefined;
  readonly profile?: string | undefined;
}

export interface OrderRecord extends WantedOrder {
  /** True time in milliseconds. */
  readonly at: number;
  readonly account: string;
  readonly isExempt: boolean;
}

export interface OrderSettings {
  readonly issuers: readonly string[];
  readonly profiles: Readonly<Partial<Record<string, ProfileTerms>>>;
  readonly outlook: Outlook;
  readonly chance: Chance;
  readonly now: () => number;
  /** Minimum and maximum duration of a validation and of an issuance, in milliseconds. */
  readonly workMs: readonly [number, number];
  readonly rejected: ReadonlySet<string>;
  readonly exemptsOnlyInWindow: () => boolean;
}

/** The orders of one authority (RFC 8555, section 7.1.6), within its limits. */
export class AuthorityOrders {
  readonly #settings: OrderSettings;
  readonly #authorizations: Authorization[] = [];
  readonly #orders: Order[] = [];
  readonly #open = new Map<string, Order>();
  readonly #valid = new Map<string, Authorization>();
  readonly #replacements = new Map<string, Order>();
  readonly #issuedAt = new Map<string, number>();
  readonly #paused = new Set<string>();
  readonly buckets = new Buckets();
  readonly certificates: IssuedCertificates;
  readonly records: OrderRecord[] = [];
  /** Each answered request for an order, including those answered with an open order. */
  readonly granted: OrderRecord[] = [];

  constructor(name: string, settings: OrderSettings) {
    this.#settings = settings;
    this.certificates = new IssuedCertificates(name, settings.chance.of('serials'));
  }

  /** @throws Refused if the order no longer exists, or belongs to another account */
  find(account: Account, id: number): Order {
    const order = this.#orders[id];
    const isThere = order?.account === account && order.expiresAt > this.#settings.now();
    return isThere ? order : refuse('malformed', `No order for ID ${id}`, 404);
  }

  /** @throws Refused */
  findAuthorization(account: Account, id: number): Authorization {
    const found = this.#authorizations[id];
    const isThere = found?.account === account && found.expiresAt > this.#settings.now();
    return isThere ? found : refuse('malformed', 'Expired authorization', 404);
  }

  statusOf({ certificate, isIssuing, expiresAt, authorizations }: Order) {
    const now = this.#settings.now();
    if (certificate) return 'valid';
    if (isIssuing) return 'processing';
    const isOver = authorizations.some((one) => one.status === 'invalid' || one.expiresAt <= now);
    if (isOver || expiresAt <= now) return 'invalid';
    return authorizations.every(({ status }) => status === 'valid') ? 'ready' : 'pending';
  }

  /** Checks in the order of Boulder's WebFrontEnd and RegistrationAuthority. @throws Refused */
  place(account: Account, wanted: WantedOrder): Order {
    const { profiles, now } = this.#settings;
    const [usual = ''] = Object.keys(profiles);
    const { profile = usual } = wanted;
    const names = [...new Set(wanted.names.map((name) => name.toLowerCase()))].toSorted();
    checkNames(names);
    this.#checkPaused(account, names);
    const replaced = this.#replaced(account, names, wanted.replaces);
    const isExempt = replaced !== undefined && this.#isExempt(replaced);
    const terms = profiles[profile] ?? gone(profile);
    this.#checkPolicy(names, terms);
    if (!isExempt) this.#spendOrder(account, names);
    const record = { ...wanted, names, at: now(), account: account.url, isExempt };
    this.granted.push(record);
    const open = this.#reusable(account, names, wanted.profile);
    if (open) return open;
    const order = this.#create(account, { ...wanted, names }, { kind: profile, terms, isExempt });
    if (replaced) this.#replacements.set(replaced.serial, order);
    this.records.push(record);
    return order;
  }

  /** Accepts that a challenge is answered. Repetitions change nothing. */
  prove(authorization: Authorization, challenge: Challenge): void {
    const isUnderWay = authorization.challenges.some(({ status }) => status !== 'pending');
    if (authorization.status !== 'pending' || isUnderWay) return;
    challenge.status = 'processing';
    void this.#validate(authorization, challenge);
  }

  /** @param request DER @throws Refused */
  async finalize(order: Order, request: Buffer): Promise<void> {
    this.#checkReady(order);
    const { lifetimeMs } = this.#settings.profiles[order.kind] ?? gone(order.kind);
    const { names, publicKey } = readRequest(request);
    if (
      names
        .map((name) => name.toLowerCase())
        .toSorted()
        .join() !== order.names.join()
    ) {
      return refuse('unauthorized', 'CSR does not specify same identifiers as Order', 403);
    }
    const accountKey = order.account.key.export({ type: 'spki', format: 'der' });
    if (publicKey.equals(accountKey)) {
      return refuse('malformed', 'Certificate public key must be different than account key');
    }
    await this.#checkCaaAgain(order);
    this.#checkReady(order);
    order.isIssuing = true;
    void this.#issue(order, { publicKey, lifetimeMs });
  }

  #checkReady(order: Order): void {
    const status = this.statusOf(order);
    if (status === 'ready') return;
    const detail = `Order's status ("${status}") is not acceptable for finalization`;
    refuse('orderNotReady', detail, 403);
  }

  #checkPaused({ url }: Account, names: readonly string[]): void {
    const paused = names.filter((name) => this.#paused.has(`${url} ${name}`));
    if (paused.length === 0) return;
    this.buckets.tellOver(
      limits.consecutiveFailures,
      `${url} ${paused.join()}`,
      this.#settings.now(),
    );
    const detail = `Your account is temporarily prevented from requesting certificates for ${paused.join(', ')}`;
    refuse('rateLimited', detail, 429);
  }

  #checkPolicy(names: readonly string[], { mostNames }: ProfileTerms): void {
    if (names.length > mostNames) {
      refuse('malformed', `Order cannot contain more than ${mostNames} identifiers`);
    }
    const rejected = names.find((name) => this.#settings.rejected.has(baseOf(name)));
    if (rejected === undefined) return;
    const detail = `Cannot issue for "${rejected}": The ACME server refuses to issue a certificate for this domain name, because it is forbidden by policy`;
    refuse('rejectedIdentifier', detail);
  }

  /** RFC 9773, section 5. @returns undefined for an order that replaces no certificate */
  #replaced(account: Account, names: readonly string[], replaces?: string) {
    if (replaces === undefined) return undefined;
    const replaced = this.certificates.find(replaces);
    if (!replaced) return refuse('malformed', 'replaces: no such certificate', 404);
    const other = this.#replacements.get(replaced.serial);
    if (other && (other.certificate !== undefined || this.statusOf(other) !== 'invalid')) {
      const detail = `cannot indicate an order replaces certificate with serial "${replaced.serial}", which already has a replacement order`;
      return refuse('alreadyReplaced', detail, 409);
    }
    if (replaced.account !== account.url) {
      return refuse('unauthorized', 'replaces: the certificate is of another account', 403);
    }
    if (!replaced.names.some((name) => names.includes(name))) {
      return refuse('malformed', 'replaces: the certificate has none of the identifiers');
    }
    return replaced;
  }

  #isExempt(replaced: IssuedCertificate): boolean {
    const now = this.#settings.now();
    const { start, end } = this.certificates.window(replaced, now);
    return !this.#settings.exemptsOnlyInWindow() || (now >= start && now < end);
  }

  /** Whether a certificate of the same names exists. Two of the limits do not count renewals. */
  #isRenewal(names: readonly string[]): boolean {
    const at = this.#issuedAt.get(names.join());
    return at !== undefined && at > this.#settings.now() - renewalMs;
  }

  #spendOrder({ url }: Account, names: readonly string[]): void {
    const now = this.#settings.now();
    const ofNew: readonly Spending[] = this.#isRenewal(names)
      ? []
      : [[limits.newOrders, url], ...domainsOf(names)];
    const failures = names.map((name): Spending => [limits.failures, `${url} ${name}`]);
    this.buckets.check([...ofNew, ...failures, [limits.perNames, names.join()]], now);
    if (ofNew.length > 0) this.buckets.spend(limits.newOrders, url, now);
  }

  #reusable({ url }: Account, names: readonly string[], profile = ''): Order | undefined {
    const open = this.#open.get([url, profile, ...names].join());
    const isOpen = open && ['pending', 'ready'].includes(this.statusOf(open));
    return isOpen ? open : undefined;
  }

  #create(
    account: Account,
    { names, profile }: WantedOrder,
    { kind, terms, isExempt }: Pick<Order, 'kind' | 'isExempt'> & { readonly terms: ProfileTerms },
  ): Order {
    const now = this.#settings.now();
    const authorizations = names.map((name) => this.#authorize(account, name, terms));
    const ends = [now + terms.orderMs, ...authorizations.map(({ expiresAt }) => expiresAt)];
    const order: Order = {
      id: this.#orders.length,
      account,
      names,
      profile,
      kind,
      isExempt,
      authorizations,
      expiresAt: Math.min(...ends),
      isIssuing: false,
    };
    this.#orders.push(order);
    this.#open.set([account.url, profile ?? '', ...names].join(), order);
    return order;
  }

  /** A valid authorization serves further orders of the same terms. */
  #authorize(account: Account, name: string, terms: ProfileTerms): Authorization {
    const now = this.#settings.now();
    const known = this.#valid.get(`${account.url} ${name}`);
    if (known && known.expiresAt > now && known.terms.reuseMs === terms.reuseMs) return known;
    const types = name.startsWith('*.') ? (['dns-01'] as const) : (['http-01', 'dns-01'] as const);
    const authorization: Authorization = {
      id: this.#authorizations.length,
      account,
      name,
      terms,
      status: 'pending',
      expiresAt: now + terms.pendingMs,
      caaAt: now,
      challenges: types.map((type) => ({ type, token: this.#newToken(), status: 'pending' })),
    };
    this.#authorizations.push(authorization);
    return authorization;
  }

  #newToken(): string {
    const tokens = this.#settings.chance.of('tokens');
    return Buffer.from(Array.from({ length: 32 }, () => tokens.int(256))).toString('base64url');
  }

  async #validate(authorization: Authorization, challenge: Challenge): Promise<void> {
    const { outlook, issuers, now } = this.#settings;
    await this.#work();
    authorization.caaAt = now();
    const problem = await validate(outlook, issuers, questionOf(authorization, challenge));
    challenge.status = authorization.status = problem ? 'invalid' : 'valid';
    const { account, name, terms } = authorization;
    const of = `${account.url} ${name}`;
    if (problem) {
      challenge.error = problem;
      this.buckets.spend(limits.failures, of, now());
      if (!this.buckets.spend(limits.consecutiveFailures, of, now())) this.#paused.add(of);
      return;
    }
    authorization.expiresAt = now() + terms.reuseMs;
    this.#valid.set(of, authorization);
    this.buckets.refill(limits.consecutiveFailures, of);
  }

  /** The Baseline Requirements let a CAA answer serve for eight hours. */
  async #checkCaaAgain({ authorizations }: Order): Promise<void> {
    const { outlook, issuers, now } = this.#settings;
    const old = authorizations.filter(({ caaAt }) => caaAt <= now() - caaAgainMs);
    const questions = old.flatMap((one) =>
      one.challenges
        .filter(({ status }) => status === 'valid')
        .map((proof) => questionOf(one, proof)),
    );
    const problems = await Promise.all(
      questions.map((question) => checkCaa(outlook, issuers, question)),
    );
    const [first] = problems.filter((problem) => problem !== undefined);
    if (first) throw new Refused(first);
    const at = now();
    for (const authorization of old) authorization.caaAt = at;
  }

  async #issue(
    order: Order,
    certificate: Pick<WantedCertificate, 'publicKey' | 'lifetimeMs'>,
  ): Promise<void> {
    const { now } = this.#settings;
    await this.#work();
    const { names, account } = order;
    const ofNew = this.#isRenewal(names) ? [] : domainsOf(names);
    for (const [limit, of] of [...ofNew, [limits.perNames, names.join()] as const]) {
      const had = this.buckets.spend(limit, of, now());
      if (!had && !order.isExempt) this.buckets.tellOver(limit, of, now());
    }
    order.certificate = this.certificates.issue(
      { names, account: account.url, ...certificate },
      now(),
    );
    this.#issuedAt.set(names.join(), now());
  }

  async #work(): Promise<void> {
    const [least, most] = this.#settings.workMs;
    await pass(least + this.#settings.chance.of('work').int(most - least + 1));
  }
}

const questionOf = ({ account, name }: Authorization, { type, token }: Challenge): Question => ({
  host: baseOf(name),
  isWildcard: name.startsWith('*.'),
  method: type,
  token,
  keyAuthorization: `${token}.${account.thumbprint}`,
  accountUri: account.url,
});

const gone = (profile: string): never =>
  refuse('invalidProfile', `profile name "${profile}" not recognized`);

const readRequest = (request: Buffer) => {
  try {
    return readCertificateRequest(request);
  } catch (error) {
    return refuse('badCSR', `The certificate request cannot be used: ${String(error)}`);
  }
};

const domainsOf = (names: readonly string[]): readonly Spending[] =>
  registeredDomains(names).map((domain) => [limits.perDomain, domain]);
