import type { FailedWhy } from '../../notifications/domain/webhook-delivery.ts';

interface Wording {
  readonly why: FailedWhy;
  readonly explain: (detail: string) => string;
}

/** Texts for owners; they reveal nothing about the internal network. */
const faults = {
  addressRefused: { why: 'not_public', explain: (explanation: string) => explanation },
  // One text for unknown, internal and own names, so that it does not reveal which it was.
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

  /** @param detail a value for the text, such as the host */
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
