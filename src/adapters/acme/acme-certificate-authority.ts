import { LRUCache } from 'lru-cache';
import {
  CertificateAuthority,
  type AuthorityAccounts,
  type OrderAnswer,
  type RenewalWindow,
} from '../../domains/certificate-ports.ts';
import type {
  CertificateOrder,
  OrderState,
} from '../../domains/domain/certificates/certificate-status.ts';
import { minuteMs } from '../../kernel/durations.ts';
import type { Clock } from '../../kernel/ports.ts';
import { AcmeAccount, type AccountSettings, AcmeSession, type Step } from './acme-session.ts';
import {
  readDocument,
  NoUsableAnswer,
  AcmeProblem,
  failureFrom,
  waitMs,
  AcmeFailure,
  isProblem,
  isRateLimit,
} from './acme-answers.ts';
import { finalize, look, prove } from './acme-orders.ts';
import { AcmeTransport, type AuthorityAddress } from './acme-transport.ts';
import { newPrivateKey } from './issued-certificate.ts';
import { certificateId } from './x509.ts';

export interface AcmeSettings extends AuthorityAddress, AccountSettings {
  readonly issuers?: readonly string[] | undefined;
  /** The requested certificate profile, if the authority offers it (draft-ietf-acme-profiles). */
  readonly profile?: string | undefined;
  readonly lacksProfile?: (profile: string) => void;
  readonly deadlineMs?: number | undefined;
}

type Failed = Extract<OrderState, { kind: 'failed' }>;

export const authorityName = (directoryUrl: string): string =>
  URL.canParse(directoryUrl) ? new URL(directoryUrl).host : directoryUrl;

/** An accepted challenge that makes no progress for this long is triggered again. */
const provedMs = 60_000;

const windowDeadlineMs = 10_000;

/** Works with any ACME authority (RFC 8555). Supports HTTP-01 and DNS-01 challenges. */
export class AcmeCertificateAuthority extends CertificateAuthority {
  override readonly name: string;
  readonly #transport: AcmeTransport;
  readonly #account: AcmeAccount;
  readonly #settings: Pick<AcmeSettings, 'issuers' | 'profile' | 'lacksProfile'>;
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #proved = new LRUCache<string, true>({ max: 10_000, ttl: provedMs });

  constructor(settings: AcmeSettings, accounts: AuthorityAccounts, clock: Clock) {
    super();
    this.name = authorityName(settings.directoryUrl);
    this.#transport = new AcmeTransport(settings);
    this.#account = new AcmeAccount(this.#transport, accounts, settings);
    this.#settings = settings;
    this.#clock = clock;
    this.#deadlineMs = settings.deadlineMs ?? 30_000;
  }

  override async issuers(): Promise<readonly string[] | undefined> {
    return this.#settings.issuers ?? this.#transport.caaIdentities(this.#clock.now());
  }

  override async accountUri(): Promise<string | undefined> {
    return (await this.#account.find().catch(() => undefined))?.url;
  }

  override newPrivateKey(): Promise<string> {
    return newPrivateKey();
  }

  override async order(
    host: string,
    replaces?: string,
    also: readonly string[] = [],
  ): Promise<OrderAnswer> {
    const { session } = this.#newStep();
    try {
      await session.prepare();
    } catch (error) {
      return { ...this.#failed(error), counts: false };
    }
    try {
      return await this.#place(session, { names: [host, ...also], replaces });
    } catch (error) {
      return { ...this.#failed(error), counts: !isRefused(error) };
    }
  }

  async #place(
    session: AcmeSession,
    wanted: Pick<WantedOrder, 'names' | 'replaces'>,
  ): Promise<OrderAnswer> {
    const { profile, lacksProfile } = this.#settings;
    const placed = await placeOrder(session, { ...wanted, profile });
    if (!placed) return { kind: 'not_exempt' };
    if (placed.lacksProfile && profile !== undefined) {
      lacksProfile?.(profile);
      this.#transport.forgetDirectory();
    }
    return { kind: 'ordered', url: placed.url, isExempt: placed.isExempt };
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

  override async renewalWindow(chain: string): Promise<RenewalWindow | 'silent' | undefined> {
    const step = this.#newStep(Math.min(this.#deadlineMs, windowDeadlineMs));
    return renewalWindow(step, chain).catch((error: unknown) => {
      this.#failed(error);
      return error instanceof AcmeProblem && error.status === 404 ? undefined : 'silent';
    });
  }

  #newStep(deadlineMs = this.#deadlineMs): Step {
    const session = new AcmeSession(this.#transport, this.#account, deadlineMs);
    return { session, clock: this.#clock, proved: this.#proved };
  }

  readonly #failed = (error: unknown): Failed => {
    this.#transport.forgetDirectory();
    return { kind: 'failed', failure: failureFrom(error, this.#clock.now()) };
  };
}

const pauses = { least: minuteMs, most: 24 * 60 * minuteMs, otherwise: 6 * 60 * minuteMs };

/** Reads the renewal window (RFC 9773, section 4.2). @param chain PEM @returns undefined if none is offered */
const renewalWindow = async (
  { session, clock }: Step,
  chain: string,
): Promise<RenewalWindow | undefined> => {
  const id = certificateId(chain);
  if (id === undefined) return undefined;
  const { renewalInfo } = await session.directory();
  if (renewalInfo === undefined) return undefined;
  const { body, headers } = await session.get(`${renewalInfo.replace(/\/$/, '')}/${id}`);
  const { start, end } = readDocument('renewalInfo', body).suggestedWindow;
  const now = clock.now();
  const askAgainAt = new Date(now.getTime() + waitMs(headers['retry-after'], now, pauses));
  return { start, end, askAgainAt };
};

interface PlacedOrder {
  readonly url: string;
  readonly isExempt: boolean;
  readonly lacksProfile: boolean;
}

interface WantedOrder {
  readonly names: readonly string[];
  readonly replaces: string | undefined;
  readonly profile: string | undefined;
}

/** Requests no validity dates, because public authorities refuse them. @returns undefined if `replaces` is refused */
const placeOrder = async (
  session: AcmeSession,
  { names, replaces, profile }: WantedOrder,
): Promise<PlacedOrder | undefined> => {
  const { renewalInfo } = await session.directory();
  const identifiers = names.map((value) => ({ type: 'dns', value }));
  const place = (extra: object) => placeWithProfile(session, { identifiers, ...extra }, profile);
  const replaced = renewalInfo && replaces && certificateId(replaces);
  if (replaced) {
    const exempt = await place({ replaces: replaced }).catch(unlessAboutReplacing);
    return exempt && { ...exempt, isExempt: true };
  }
  const counted = await place({}).catch((error: unknown) => {
    throw isAboutNames(error, names) ? new AcmeFailure('rejected_name', error.message) : error;
  });
  return { ...counted, isExempt: false };
};

const placeWithProfile = async (
  session: AcmeSession,
  payload: object,
  profile: string | undefined,
): Promise<Omit<PlacedOrder, 'isExempt'>> => {
  const { newOrder, meta } = await session.directory();
  const place = async (extra: object): Promise<string> => {
    const { headers } = await session.post(newOrder, { ...payload, ...extra });
    if (headers.location) return headers.location;
    throw new NoUsableAnswer('The certificate authority returned no order URL.');
  };
  if (profile !== undefined && Object.hasOwn(meta?.profiles ?? {}, profile)) {
    const url = await place({ profile }).catch(unlessAboutProfile);
    if (url !== undefined) return { url, lacksProfile: false };
  }
  return { url: await place({}), lacksProfile: profile !== undefined };
};

const unlessAboutProfile = (error: unknown): undefined => {
  if (!isProblem(error, 'invalidProfile')) throw error;
};

/** Whether the authority certainly created no order. Errors of proxies and servers do not prove that. */
const isRefused = (error: unknown): boolean =>
  error instanceof AcmeFailure ||
  (error instanceof AcmeProblem && error.isDocumented && error.status < 500 && !isRateLimit(error));

/**
 * The certificate may be replaced already or belong to another account. Then we only lose the exemption from limits.
 */
const unlessAboutReplacing = (error: unknown): undefined => {
  const isAbout =
    isProblem(error, 'alreadyReplaced', 'malformed', 'unauthorized') ||
    (error instanceof AcmeProblem && error.status === 404);
  if (!isAbout) throw error;
};

/** Because `malformed` can have many causes, only an error about the name may end a customer's domain. */
const isAboutNames = (error: unknown, names: readonly string[]): error is AcmeProblem =>
  isProblem(error, 'malformed') &&
  (names.some((name) => error.message.includes(name)) || /\bidentifiers?\b/i.test(error.message));
