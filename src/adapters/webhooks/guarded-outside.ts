import { Resolver } from 'node:dns/promises';
import { request as plainRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { beginningOf } from '../../kernel/incoming.ts';
import type { FailedWhy, Outcome } from '../../notifications/domain/webhook-delivery.ts';
import {
  mayBeSentTo,
  readDestination,
  type Destination,
  type DestinationRules,
  isLoopback,
  plainAddress,
} from '../../notifications/domain/destination.ts';
import { Outside, WebhookSigning } from '../../notifications/webhook-ports.ts';

type Message = Parameters<Outside['post']>[1];

interface OutsideSettings extends LookupSettings {
  readonly withinMs?: number;
}

export const longestMs = 10_000;

export const largest = { headers: 16 * 1024, answer: 64 * 1024, kept: 1024 } as const;

/**
 * Sends to untrusted addresses. A name is resolved once, and we connect only to the checked addresses. Each request
 * uses its own connection, follows no redirects, uses no proxy and decompresses nothing.
 */
export class GuardedOutside extends Outside {
  readonly #settings: OutsideSettings;
  readonly #withinMs: number;

  constructor(settings: OutsideSettings) {
    super();
    this.#settings = settings;
    this.#withinMs = settings.withinMs ?? longestMs;
  }

  async post(address: string, message: Message, cancelled?: AbortSignal): Promise<Outcome> {
    const begun = performance.now();
    const late = AbortSignal.timeout(this.#withinMs);
    const signal = cancelled ? AbortSignal.any([late, cancelled]) : late;
    const outcome = await this.#send(address, message, signal).catch((error: unknown) => {
      if (cancelled?.aborted) return failed(new NotSent('cancelled', ''));
      if (late.aborted) return failed(new NotSent('timedOut', String(this.#withinMs / 1000)));
      return failed(notSentBy(error, URL.parse(address)?.hostname ?? ''));
    });
    return { ...outcome, tookMs: Math.round(performance.now() - begun) };
  }

  async #send(address: string, message: Message, signal: AbortSignal) {
    const read = readDestination(address, this.#settings.rules);
    if (read.kind === 'refused') throw new NotSent('addressRefused', read.explanation);
    const checked = await publicAddresses(read.destination, this.#settings, signal);
    signal.throwIfAborted();
    const answer = await answerTo(read.destination, message, { signal, lookup: only(checked) });
    const bytes = await beginningOf(answer, largest.answer);
    // An answer without a length ends with its connection, even if we have closed it ourselves.
    signal.throwIfAborted();
    const beginning = bytes.subarray(0, largest.kept).toString();
    return { kind: 'answered', status: answer.statusCode ?? 0, beginning } as const;
  }
}

const failed = ({ why, message }: NotSent) =>
  ({ kind: 'failed', why, explanation: message }) as const;

const only =
  (checked: readonly CheckedAddress[]): LookupFunction =>
  (_host, { all }, done) => {
    const [first] = checked;
    if (all) done(null, [...checked]);
    else done(null, first?.address ?? '', first?.family);
  };

const answerTo = (
  { protocol, host, port, path }: Destination,
  { headers, body }: Message,
  connecting: Pick<RequestOptions, 'signal' | 'lookup'>,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const send = protocol === 'https:' ? secureRequest : plainRequest;
    send({
      host,
      port,
      path,
      method: 'POST',
      agent: false,
      ...connecting,
      maxHeaderSize: largest.headers,
      insecureHTTPParser: false,
      headers: { 'user-agent': 'animal-store', 'accept-encoding': 'identity', ...headers },
    })
      .on('response', resolve)
      .on('error', reject)
      // The connection can also close without an error, such as after a protocol switch.
      .on('close', () => {
        reject(new NotSent('closed', host));
      })
      .end(body);
  });

interface CheckedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

interface LookupSettings {
  readonly dnsServers: readonly string[];
  readonly rules: DestinationRules;
  /** Public addresses of this service that the machine does not know, such as a load balancer's. */
  readonly ownAddresses: readonly string[];
}

const mostTried = 6;

/** Asks only the configured servers, because the system would use /etc/hosts and internal servers. @throws NotSent */
const publicAddresses = async (
  { host, isAddress }: Destination,
  settings: LookupSettings,
  signal: AbortSignal,
): Promise<readonly CheckedAddress[]> => {
  const found = isAddress ? [host] : await resolved(host, settings.dnsServers, signal);
  const own = ownAddresses(settings);
  const isAllowed = (address: string): boolean =>
    mayBeSentTo(address, settings.rules) &&
    (isLoopback(address) || !own.has(plainAddress(address)));
  if (found.length === 0 || !found.every(isAllowed)) throw new NotSent('noPublicAddress', host);
  return found
    .slice(0, mostTried)
    .map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

const resolved = async (
  host: string,
  servers: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  resolver.setServers(servers);
  const cancel = (): void => {
    resolver.cancel();
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const isUnknown = answers.some((one) => one.status === 'rejected' && !saysNone(one.reason));
    if (addresses.length === 0 && isUnknown) throw new NotSent('dnsFailed', host);
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

const saysNone = (error: unknown): boolean =>
  ['ENOTFOUND', 'ENODATA', 'EBADNAME'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Includes all addresses of this machine, because its services may trust requests from it. */
const ownAddresses = ({ ownAddresses: told }: LookupSettings): ReadonlySet<string> => {
  const here = Object.values(networkInterfaces()).flatMap((all = []) => all);
  return new Set([...told, ...here.map(({ address }) => address)].map(plainAddress));
};

/** https://github.com/standard-webhooks/standard-webhooks requires 24 to 64 bytes. */
const secretBytes = 32;

export class StandardSigning extends WebhookSigning {
  override newSecret(): string {
    return `whsec_${randomBytes(secretBytes).toString('base64')}`;
  }

  override headers(
    { id, body }: { readonly id: string; readonly body: string },
    secrets: readonly string[],
    at: Date,
  ): Readonly<Record<string, string>> {
    const signatures = secrets.map((secret) => new Webhook(secret).sign(id, at, body));
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': signatures.join(' '),
    };
  }
}

interface Wording {
  readonly why: FailedWhy;
  readonly explain: (detail: string) => string;
}

const faults = {
  addressRefused: { why: 'not_public', explain: (explanation: string) => explanation },
  // One text for unknown, internal and own names, so that it does not reveal which case it was.
  noPublicAddress: {
    why: 'not_public',
    explain: (host: string) =>
      `We found no address for ${host} that we may send to. It must be in public DNS, and all its addresses must be public.`,
  },
  dnsFailed: {
    why: 'not_found',
    explain: (host: string) => `The name servers for ${host} did not answer, or failed.`,
  },
  unreachable: {
    why: 'refused',
    explain: (host: string) =>
      `We could not connect to ${host}. Check that your receiver runs, and that no firewall is in between.`,
  },
  certificateInvalid: { why: 'tls', explain: (explanation: string) => explanation },
  tlsFailed: {
    why: 'tls',
    explain: (host: string) =>
      `${host} and we support no common encryption. It must offer TLS 1.2 or 1.3 on that port.`,
  },
  closed: {
    why: 'reset',
    explain: (host: string) =>
      `${host} closed the connection before its answer was complete, or broke its rules.`,
  },
  headersTooLarge: {
    why: 'too_large',
    explain: (host: string) => `The answer of ${host} has more than 16 KiB of headers.`,
  },
  malformed: {
    why: 'unreadable',
    explain: (host: string) => `${host} did not send a valid HTTP answer.`,
  },
  timedOut: {
    why: 'timeout',
    explain: (seconds: string) => `There was no complete answer within ${seconds} seconds.`,
  },
  cancelled: {
    why: 'stopped',
    explain: () => 'We stopped while we waited for the answer. We will try again.',
  },
} as const satisfies Readonly<Record<string, Wording>>;

type Fault = keyof typeof faults;

export class NotSent extends Error {
  override readonly name = 'NotSent';
  readonly why: FailedWhy;

  constructor(fault: Fault, detail: string) {
    super(faults[fault].explain(detail));
    this.why = faults[fault].why;
  }
}

export const notSentBy = (error: unknown, host: string): NotSent => {
  if (error instanceof NotSent) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  const certificate = certificateFaults[code];
  if (certificate) return new NotSent('certificateInvalid', certificate(host));
  return new NotSent(kinds.find(({ codes }) => codes.test(code))?.fault ?? 'closed', host);
};

const kinds: readonly { readonly codes: RegExp; readonly fault: Fault }[] = [
  { codes: /^HPE_HEADER_OVERFLOW$/, fault: 'headersTooLarge' },
  { codes: /^HPE_/, fault: 'malformed' },
  { codes: /^(ERR_SSL_|EPROTO$|ERR_TLS_)/, fault: 'tlsFailed' },
  {
    codes: /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EADDRNOTAVAIL|EACCES)$/,
    fault: 'unreachable',
  },
];

const certificateFaults: Readonly<Record<string, (host: string) => string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: (host) => `The certificate is for another name than ${host}.`,
  CERT_HAS_EXPIRED: (host) => `The certificate of ${host} has expired.`,
  CERT_NOT_YET_VALID: (host) => `The certificate of ${host} is not valid yet.`,
  DEPTH_ZERO_SELF_SIGNED_CERT: (host) =>
    `${host} signed its certificate itself. Get one from a public authority.`,
  SELF_SIGNED_CERT_IN_CHAIN: (host) =>
    `The certificate of ${host} is from an authority that we do not trust. Get one from a public authority.`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: (host) =>
    `${host} does not send the whole chain of its certificate. Send the intermediate certificates too.`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: (host) =>
    `${host} does not send the whole chain of its certificate, or it is from an authority that we do not trust.`,
};
