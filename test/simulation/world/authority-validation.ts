import { createHash } from 'node:crypto';
import { problemOf, type ProblemDocument } from './authority-requests.ts';

export interface CaaRecord {
  readonly flags: number;
  readonly tag: string;
  readonly value: string;
}

export type LookUpProblem = 'dns' | 'connection';

/** Nothing was visible, because the resolvers failed or the host was unreachable. */
export class LookUpFailed extends Error {
  override readonly name = 'LookUpFailed';
  readonly problem: LookUpProblem;

  constructor(problem: LookUpProblem, detail: string) {
    super(detail);
    this.problem = problem;
  }
}

/** The view of the world from a `vantage`; 0 is the authority's own network. */
export interface Outlook {
  /** The IPv4 and IPv6 addresses of the host; empty if there are none. @throws LookUpFailed */
  addresses(host: string, vantage: number): Promise<readonly string[]>;
  /**
   * The host's answer on port 80 under `/.well-known/acme-challenge/<token>`, after redirects.
   * @returns undefined for any answer but 200
   * @throws LookUpFailed
   */
  http01(host: string, token: string, vantage: number): Promise<string | undefined>;
  /** TXT records of the name, following aliases; empty if there are none. @throws LookUpFailed */
  txt(name: string, vantage: number): Promise<readonly string[]>;
  /** CAA records of exactly this name, following aliases; empty if there are none. @throws LookUpFailed */
  caa(name: string, vantage: number): Promise<readonly CaaRecord[]>;
}

export interface Question {
  readonly host: string;
  readonly isWildcard: boolean;
  readonly method: string;
  readonly token: string;
  readonly keyAuthorization: string;
  readonly accountUri: string;
}

/** The authority's own network and four others. One of them may see something else (Boulder, va.maxAllowedFailures). */
export const vantages = [0, 1, 2, 3, 4] as const;
const mayDiffer = 1;

/** @returns undefined if the challenge is answered and CAA allows it from enough places */
export const validate = async (
  outlook: Outlook,
  issuers: readonly string[],
  question: Question,
): Promise<ProblemDocument | undefined> =>
  corroborated(
    async (vantage) =>
      (await answerProblem(outlook, question, vantage)) ??
      (await caaProblem(outlook, issuers, question, vantage)),
  );

export const checkCaa = (
  outlook: Outlook,
  issuers: readonly string[],
  question: Question,
): Promise<ProblemDocument | undefined> =>
  corroborated((vantage) => caaProblem(outlook, issuers, question, vantage));

const corroborated = async (
  seen: (vantage: number) => Promise<ProblemDocument | undefined>,
): Promise<ProblemDocument | undefined> => {
  const [own, ...others] = await Promise.all(
    vantages.map((vantage) => seen(vantage).catch(problemOfLookUp)),
  );
  if (own) return own;
  const differing = others.filter((problem) => problem !== undefined);
  const [first] = differing;
  if (!first || differing.length <= mayDiffer) return undefined;
  return { ...first, detail: `During secondary validation: ${first.detail}` };
};

const problemOfLookUp = (error: unknown): ProblemDocument => {
  if (error instanceof LookUpFailed) return problemOf(error.problem, error.message);
  throw error;
};

const answerProblem = (
  outlook: Outlook,
  question: Question,
  vantage: number,
): Promise<ProblemDocument | undefined> =>
  question.method === 'http-01'
    ? httpProblem(outlook, question, vantage)
    : textProblem(outlook, question, vantage);

/** RFC 8555, section 8.3. */
const httpProblem = async (
  outlook: Outlook,
  { host, token, keyAuthorization }: Question,
  vantage: number,
): Promise<ProblemDocument | undefined> => {
  const addresses = await outlook.addresses(host, vantage);
  if (addresses.length === 0) {
    return problemOf('dns', `no valid A records found for ${host}; no valid AAAA records found`);
  }
  const answer = await outlook.http01(host, token, vantage);
  if (answer?.trimEnd() === keyAuthorization) return undefined;
  const what = answer === undefined ? 'another status than 200' : 'another key authorization';
  return problemOf('unauthorized', `Invalid response from http://${host}: ${what}`, 403);
};

/** RFC 8555, section 8.4. */
const textProblem = async (
  outlook: Outlook,
  { host, keyAuthorization }: Question,
  vantage: number,
): Promise<ProblemDocument | undefined> => {
  const name = `_acme-challenge.${host}`;
  const texts = await outlook.txt(name, vantage);
  const wanted = createHash('sha256').update(keyAuthorization).digest('base64url');
  if (texts.includes(wanted)) return undefined;
  const found = texts.length === 0 ? 'No TXT record found' : 'Incorrect TXT record found';
  return problemOf('unauthorized', `${found} at ${name}`, 403);
};

const knownTags = ['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc'];

/** RFC 8659, section 3: the closest name with any record decides. All names are queried at once, as in Boulder. */
const caaProblem = async (
  outlook: Outlook,
  issuers: readonly string[],
  question: Question,
  vantage: number,
): Promise<ProblemDocument | undefined> => {
  const labels = question.host.split('.');
  const names = labels.map((_, at) => labels.slice(at).join('.'));
  const answers = await Promise.all(
    names.map(async (name) => ({ name, records: await recordsOf(outlook, name, vantage) })),
  );
  const about = `While processing CAA for ${question.host}:`;
  for (const { name, records } of answers) {
    if (records instanceof LookUpFailed) {
      return problemOf('dns', `${about} DNS problem: ${records.message}`);
    }
    if (records.length === 0) continue;
    if (allows(records, issuers, question)) return undefined;
    return problemOf('caa', `${about} CAA record for ${name} prevents issuance`, 403);
  }
  return undefined;
};

const recordsOf = (
  outlook: Outlook,
  name: string,
  vantage: number,
): Promise<readonly CaaRecord[] | LookUpFailed> =>
  outlook.caa(name, vantage).catch((error: unknown) => {
    if (error instanceof LookUpFailed) return error;
    throw error;
  });

const allows = (
  records: readonly CaaRecord[],
  issuers: readonly string[],
  question: Question,
): boolean => {
  const tagged = records.map((record) => ({ ...record, tag: record.tag.toLowerCase() }));
  // Boulder also treats the bit 1 as critical.
  if (tagged.some(({ flags, tag }) => (flags & 129) !== 0 && !knownTags.includes(tag)))
    return false;
  const issue = tagged.filter(({ tag }) => tag === 'issue');
  const wild = tagged.filter(({ tag }) => tag === 'issuewild');
  const deciding = question.isWildcard && wild.length > 0 ? wild : issue;
  return deciding.length === 0 || deciding.some(({ value }) => permits(value, issuers, question));
};

/** One `issue` or `issuewild` value, with its parameters (RFC 8657). */
const permits = (
  value: string,
  issuers: readonly string[],
  { method, accountUri }: Question,
): boolean => {
  const [issuer = '', ...parameters] = value.split(';').map((part) => part.trim());
  if (!issuers.includes(issuer)) return false;
  const pairs = parameters.filter((part) => part !== '').map((part) => part.split(/=(.*)/s));
  if (pairs.some(({ length }) => length < 2)) return false;
  const valuesOf = (tag: string): readonly string[] =>
    pairs.filter(([key = '']) => key.trim().toLowerCase() === tag).map(([, of = '']) => of.trim());
  const uris = valuesOf('accounturi');
  const methods = valuesOf('validationmethods');
  return (
    uris.length <= 1 &&
    methods.length <= 1 &&
    uris.every((uri) => uri === accountUri) &&
    methods.every((list) => list.split(',').includes(method))
  );
};
