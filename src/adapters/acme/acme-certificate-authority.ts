import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import type { CertificateOrder, OrderState } from '../../domains/domain/certificates/order.ts';
import {
  CertificateAuthority,
  type AuthorityAccounts,
  type OrderAnswer,
  type RenewalWindow,
} from '../../domains/certificate-ports.ts';
import { AcmeAccount, type AccountSettings } from './acme-account.ts';
import type { Step } from './acme-authorizations.ts';
import { failureFrom } from './acme-failure.ts';
import { finalize, look, prove } from './acme-orders.ts';
import { AcmeSession } from './acme-session.ts';
import { AcmeTransport, type AuthorityAddress } from './acme-transport.ts';
import { isRefused, placeOrder } from './place-order.ts';
import { newPrivateKey } from './private-key.ts';
import { renewalWindow } from './renewal-info.ts';

export interface AcmeSettings extends AuthorityAddress, AccountSettings {
  /** The authority's names in CAA records. */
  readonly issuers: readonly string[];
  /** For all requests of one step together. */
  readonly deadlineMs?: number | undefined;
}

type Failed = Extract<OrderState, { kind: 'failed' }>;

/** How long an authority may take for an accepted challenge before we trigger it again. */
const provedMs = 60_000;

/** Any authority that speaks ACME (RFC 8555); challenges of the type HTTP-01. */
export class AcmeCertificateAuthority extends CertificateAuthority {
  override readonly issuers: readonly string[];
  readonly #transport: AcmeTransport;
  readonly #account: AcmeAccount;
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #proved = new LRUCache<string, true>({ max: 10_000, ttl: provedMs });

  constructor(settings: AcmeSettings, accounts: AuthorityAccounts, clock: Clock) {
    super();
    this.issuers = settings.issuers;
    this.#transport = new AcmeTransport(settings);
    this.#account = new AcmeAccount(this.#transport, accounts, settings);
    this.#clock = clock;
    this.#deadlineMs = settings.deadlineMs ?? 30_000;
  }

  override async accountUri(): Promise<string | undefined> {
    return (await this.#account.find().catch(() => undefined))?.url;
  }

  override newPrivateKey(): Promise<string> {
    return newPrivateKey();
  }

  override async order(host: string, replaces?: string): Promise<OrderAnswer> {
    const { session } = this.#newStep();
    try {
      await session.prepare();
    } catch (error) {
      return { ...this.#failed(error), counts: false };
    }
    try {
      return { kind: 'ordered', ...(await placeOrder(session, host, replaces)) };
    } catch (error) {
      return { ...this.#failed(error), counts: !isRefused(error) };
    }
  }

  override look(order: CertificateOrder): Promise<OrderState> {
    return look(this.#newStep(), order).catch(this.#failed);
  }

  override prove(order: CertificateOrder, challengeUrl: string): Promise<OrderState> {
    return prove(this.#newStep(), order, challengeUrl).catch(this.#failed);
  }

  override finalize(order: CertificateOrder): Promise<OrderState> {
    return finalize(this.#newStep(), order).catch(this.#failed);
  }

  override async renewalWindow(chain: string): Promise<RenewalWindow | undefined> {
    return renewalWindow(this.#newStep(), chain).catch((error: unknown) => {
      this.#failed(error);
      return undefined;
    });
  }

  #newStep(): Step {
    const session = new AcmeSession(this.#transport, this.#account, this.#deadlineMs);
    return { session, clock: this.#clock, proved: this.#proved };
  }

  readonly #failed = (error: unknown): Failed => {
    this.#transport.forgetDirectory();
    return { kind: 'failed', failure: failureFrom(error, this.#clock.now()) };
  };
}
