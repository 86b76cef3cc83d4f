import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode, RECURSION_DESIRED, type DecodedPacket } from 'dns-packet';

interface CaaRecord {
  readonly flags: number;
  readonly tag: string;
  readonly value: string;
}

interface CaaQuestion {
  /** For a wildcard, its base name. */
  readonly host: string;
  readonly isWildcard: boolean;
  /** The validation method (RFC 8657, section 4). */
  readonly method: string;
  /** The account URL (RFC 8657, section 3). */
  readonly account: string | undefined;
}

interface Refusal {
  readonly type: 'caa' | 'dns';
  readonly detail: string;
}

const noError = 0;
const noSuchName = 3;
const knownTags = ['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc'];

/**
 * Queries one resolver over UDP, twice for five seconds. @throws Error if it does not answer or reports a
 * failure
 */
const ask = async (name: string, dns: string): Promise<readonly CaaRecord[]> => {
  const [host = '', port = ''] = dns.split(':');
  const socket = createSocket('udp4');
  try {
    const message = encode({
      type: 'query',
      id: 1,
      flags: RECURSION_DESIRED,
      questions: [{ type: 'CAA', name }],
    });
    const answer = async (): Promise<DecodedPacket> => {
      socket.send(message, Number(port), host);
      const signal = AbortSignal.timeout(5000);
      const [bytes] = (await once(socket, 'message', { signal })) as [Buffer];
      return decode(bytes);
    };
    const { flags = 0, answers = [] } = await answer().catch(answer);
    const code = flags & 15;
    if (code !== noError && code !== noSuchName) throw new Error(`response code ${code}`);
    return answers.flatMap((record) => (record.type === 'CAA' ? [record.data as CaaRecord] : []));
  } finally {
    socket.close();
  }
};

/** Whether an `issue` or `issuewild` value names the issuer and allows the method and the account. */
const allows = (value: string, issuer: string, { method, account }: CaaQuestion): boolean => {
  const [name = '', ...parameters] = value.split(';').map((part) => part.trim());
  const valueOf = (tag: string): string | undefined =>
    parameters.map((part) => part.split(/=(.*)/s)).find(([key = '']) => key.trim() === tag)?.[1];
  const methods = valueOf('validationmethods')?.split(',');
  const accountUri = valueOf('accounturi');
  return (
    name.toLowerCase() === issuer &&
    (methods?.includes(method) ?? true) &&
    (accountUri === undefined || accountUri === account)
  );
};

/** RFC 8659: the closest name with any record decides. */
const caaRefusal = async (
  question: CaaQuestion,
  issuer: string,
  dns: string,
): Promise<Refusal | undefined> => {
  const { host } = question;
  const about = `While processing CAA for ${host}:`;
  const labels = host.split('.');
  for (let at = 0; at < labels.length; at++) {
    const name = labels.slice(at).join('.');
    const records = await ask(name, dns).catch((error: unknown) => String(error));
    if (typeof records === 'string') {
      return { type: 'dns', detail: `${about} DNS problem: ${records} looking up CAA for ${name}` };
    }
    if (records.length === 0) continue;
    const tags = records.map(({ tag }) => tag.toLowerCase());
    const isStrange = records.some(
      ({ flags }, index) => (flags & 129) !== 0 && !knownTags.includes(tags[index] ?? ''),
    );
    const [issue, wild] = ['issue', 'issuewild'].map((tag) =>
      records.filter((_, index) => tags[index] === tag),
    );
    const deciding = question.isWildcard && wild?.length ? wild : (issue ?? []);
    const isAllowed =
      deciding.length === 0 || deciding.some(({ value }) => allows(value, issuer, question));
    if (!isStrange && isAllowed) return undefined;
    return { type: 'caa', detail: `${about} CAA record for ${name} prevents issuance` };
  }
  return undefined;
};

interface ChallengeDocument {
  readonly type: string;
  readonly url: string;
  readonly token: string;
}

/** The used fields of an order, an authorization or the directory. */
export type CaDocument = Record<string, unknown> & {
  readonly identifier?: { readonly value: string };
  readonly wildcard?: boolean;
  readonly challenges?: readonly ChallengeDocument[];
  readonly authorizations?: readonly string[];
};

interface Guarded extends ChallengeDocument {
  readonly host: string;
  readonly isWildcard: boolean;
  readonly authorizationPath: string;
}

const pathOf = (url: string): string => new URL(url).pathname;

/** Checks CAA when a client answers a challenge. A refused challenge stays invalid. */
export class CaaGuard {
  readonly #issuer: string;
  readonly #dns: string;
  readonly #challenges = new Map<string, Guarded>();
  readonly #refused = new Map<string, Refusal>();

  constructor(issuer: string, dns: string) {
    this.#issuer = issuer;
    this.#dns = dns;
  }

  /** @returns the challenge after a refusal; undefined if the authority should continue */
  async refuse(path: string, account: string | undefined): Promise<CaDocument | undefined> {
    const challenge = this.#challenges.get(path);
    if (!challenge) return undefined;
    const { host, isWildcard, type, token, url, authorizationPath } = challenge;
    const question: CaaQuestion = { host, isWildcard, method: type, account };
    const refusal = await caaRefusal(question, this.#issuer, this.#dns);
    if (!refusal) return undefined;
    this.#refused.set(authorizationPath, refusal);
    return { type, url, token, status: 'invalid', error: problemOf(refusal) };
  }

  /** Records which challenge belongs to which host, and shows refused ones as invalid. */
  amend(path: string, document: CaDocument): CaDocument {
    const { identifier, wildcard: isWildcard = false, challenges = [] } = document;
    const { authorizations = [] } = document;
    for (const challenge of challenges) {
      const about = { host: identifier?.value ?? '', isWildcard, authorizationPath: path };
      this.#challenges.set(pathOf(challenge.url), { ...challenge, ...about });
    }
    const refusals = [path, ...authorizations.map(pathOf)].map((at) => this.#refused.get(at));
    const refusal = refusals.find(Boolean);
    if (!refusal) return document;
    const invalid = { status: 'invalid', error: problemOf(refusal) };
    if (!document.challenges) return { ...document, status: 'invalid' };
    return {
      ...document,
      status: 'invalid',
      challenges: challenges.map((challenge) => ({ ...challenge, ...invalid })),
    };
  }
}

const problemOf = (refusal: Refusal): unknown =>
  JSON.parse(problemText(refusal, refusal.type === 'caa' ? 403 : 400));

/** A fault of a request, for the first `times` times or always. */
export interface CaFault {
  /** Matches `METHOD /path`, such as `POST /order-plz`; `caPlaces` has the common ones. */
  readonly match: RegExp;
  /** Applies only to requests for orders of that host. */
  readonly host?: string;
  readonly times?: number;
  /** The authority does the work, but its answer is lost, late or replaced. */
  readonly after?: boolean;
  readonly delayMs?: number;
  /** The answer is delayed until then. */
  readonly held?: Promise<unknown>;
  /** The connection is cut. */
  readonly reset?: boolean;
  /** There is no answer. */
  readonly hang?: boolean;
  /** The replacement of the answer, with status 200 by default. */
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

/** The paths of Pebble. */
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

  /** The first matching fault. Uses up one of its times. */
  take(line: string, host: string | undefined): CaFault | undefined {
    const isMet = ({ match, host: whose = host }: CaFault) => match.test(line) && whose === host;
    const entry = this.#faults.find(({ fault, left }) => left > 0 && isMet(fault));
    if (entry) entry.left -= 1;
    return entry?.fault;
  }
}
