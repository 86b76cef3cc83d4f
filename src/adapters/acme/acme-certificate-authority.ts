import type { Clock } from '../../kernel/clock.ts';
import type { CertificateOrder, OrderState } from '../../sites/domain/certificate-order.ts';
import {
  CertificateAuthority,
  type AuthorityAccounts,
  type OrderAnswer,
  type RenewalWindow,
} from '../../sites/ports.ts';
import { AcmeAccount, type AccountSettings } from './acme-account.ts';
import { AcmeAuthorizations } from './acme-authorizations.ts';
import { AcmeClient } from './acme-client.ts';
import { failureFrom } from './acme-failure.ts';
import { AcmeHttp } from './acme-http.ts';
import { AcmeOrders } from './acme-orders.ts';
import { newPrivateKey } from './private-key.ts';
import { isRefused, placeOrder } from './place-order.ts';
import { certificateId, readRenewalWindow } from './renewal-info.ts';
import { SignedRequests } from './signed-requests.ts';

export interface AcmeSettings extends AccountSettings {
  readonly directoryUrl: string;
  /** The authority's names in CAA records. */
  readonly issuers: readonly string[];
  /** For all requests of one step together. */
  readonly deadlineMs?: number | undefined;
  /** PEM of the root of the authority's own TLS certificate, if it is not publicly trusted. */
  readonly trustedCa?: string | undefined;
}

type Failed = Extract<OrderState, { kind: 'failed' }>;

/** Any authority that speaks ACME (RFC 8555); challenges of the type HTTP-01. */
export class AcmeCertificateAuthority extends CertificateAuthority {
  override readonly issuers: readonly string[];
  readonly #deadlineMs: number;
  readonly #clock: Clock;
  readonly #requests: SignedRequests;
  readonly #account: AcmeAccount;
  readonly #client: AcmeClient;
  readonly #orders: AcmeOrders;

  constructor(settings: AcmeSettings, accounts: AuthorityAccounts, clock: Clock) {
    super();
    this.issuers = settings.issuers;
    this.#deadlineMs = settings.deadlineMs ?? 30_000;
    this.#clock = clock;
    this.#requests = new SignedRequests(settings.directoryUrl, new AcmeHttp(settings.trustedCa));
    this.#account = new AcmeAccount(this.#requests, accounts, settings);
    this.#client = new AcmeClient(this.#requests, this.#account);
    this.#orders = new AcmeOrders(this.#client, new AcmeAuthorizations(this.#client, clock), clock);
  }

  override async accountUri(): Promise<string | undefined> {
    return (await this.#account.find().catch(() => undefined))?.url;
  }

  override newPrivateKey(): Promise<string> {
    return newPrivateKey();
  }

  override async order(host: string, replaces?: string): Promise<OrderAnswer> {
    const signal = AbortSignal.timeout(this.#deadlineMs);
    try {
      await this.#client.prepare(signal);
    } catch (error) {
      return { ...this.#failed(error), counts: false };
    }
    try {
      return { kind: 'ordered', ...(await placeOrder(this.#client, { host, replaces }, signal)) };
    } catch (error) {
      return { ...this.#failed(error), counts: !isRefused(error) };
    }
  }

  override look(order: CertificateOrder): Promise<OrderState> {
    return this.#step((signal) => this.#orders.look(order, signal));
  }

  override prove(order: CertificateOrder, challengeUrl: string): Promise<OrderState> {
    return this.#step((signal) => this.#orders.prove(order, challengeUrl, signal));
  }

  override finalize(order: CertificateOrder): Promise<OrderState> {
    return this.#step((signal) => this.#orders.finalize(order, signal));
  }

  override async renewalWindow(chain: string): Promise<RenewalWindow | undefined> {
    const id = certificateId(chain);
    if (id === undefined) return undefined;
    const window = await this.#step(async (signal) => {
      const { renewalInfo } = await this.#client.directory(signal);
      if (renewalInfo === undefined) return undefined;
      const answer = await this.#client.get(`${renewalInfo.replace(/\/$/, '')}/${id}`, signal);
      return readRenewalWindow(answer, this.#clock.now());
    });
    return window && 'start' in window ? window : undefined;
  }

  async #step<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | Failed> {
    try {
      return await work(AbortSignal.timeout(this.#deadlineMs));
    } catch (error) {
      return this.#failed(error);
    }
  }

  #failed(error: unknown): Failed {
    this.#requests.forgetDirectory();
    return { kind: 'failed', failure: failureFrom(error, this.#clock.now()) };
  }
}
