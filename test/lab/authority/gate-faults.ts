/** What goes wrong with a request, the first `times` times or for ever. */
export interface CaFault {
  /** Of `METHOD /path`, as in `POST /order-plz`; `caPlaces` has the common ones. */
  readonly match: RegExp;
  /** Only requests for orders of that host have it. */
  readonly host?: string;
  readonly times?: number;
  /** The authority does the work; only its answer is lost, late or replaced. */
  readonly after?: boolean;
  readonly delayMs?: number;
  /** It waits for that. */
  readonly held?: Promise<unknown>;
  /** The connection is cut. */
  readonly reset?: boolean;
  /** No answer, ever. */
  readonly hang?: boolean;
  /** What is answered instead, 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An error of RFC 8555, section 6.7, with the short names of its types. */
  readonly problem?: FaultProblem;
  readonly body?: string;
}

export interface FaultProblem {
  readonly type: string;
  readonly detail: string;
  readonly subproblems?: readonly { readonly type: string; readonly detail: string }[];
}

/** Where Pebble has what. */
export const caPlaces = {
  directory: /^GET \/dir$/,
  newNonce: /^HEAD \/nonce-plz$/,
  newAccount: /^POST \/sign-me-up$/,
  newOrder: /^POST \/order-plz$/,
  order: /^POST \/my-order\//,
  authorization: /^POST \/authZ\//,
  challenge: /^POST \/chalZ\//,
  finalize: /^POST \/finalize-order\//,
  certificate: /^POST \/certZ\//,
  renewalInfo: /^GET \/renewal-info\//,
} as const;

/** As the authority writes it. */
export const problemText = (
  { type, detail, subproblems }: FaultProblem,
  status: number,
): string => {
  const full = (short: string): string => `urn:ietf:params:acme:error:${short}`;
  return JSON.stringify({
    type: full(type),
    detail,
    status,
    ...(subproblems && {
      subproblems: subproblems.map((each) => ({ ...each, type: full(each.type) })),
    }),
  });
};

export class CaFaults {
  #faults: readonly { readonly fault: CaFault; left: number }[] = [];

  set(faults: readonly CaFault[]): void {
    this.#faults = faults.map((fault) => ({ fault, left: fault.times ?? Infinity }));
  }

  /** The first one that fits; uses up one of its times. */
  take(line: string, host: string | undefined): CaFault | undefined {
    const isMet = ({ match, host: whose = host }: CaFault) => match.test(line) && whose === host;
    const entry = this.#faults.find(({ fault, left }) => left > 0 && isMet(fault));
    if (entry) entry.left -= 1;
    return entry?.fault;
  }
}
