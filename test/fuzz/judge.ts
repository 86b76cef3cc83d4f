import type { LogEntry } from '../support/service/service-log.ts';
import { until } from '../support/until.ts';
import type { FuzzField } from './fuzz-field.ts';
import type { Ask, BytesCase, DnsCase } from './fuzz-case.ts';
import { readAnswers, type Http1Answer, type Reply } from './send.ts';
import { isServerError, readFrames } from './http2-cases.ts';

const error = 50;
const lookEveryMs = 1000;

/** Watches the health and the log of a service. */
export class ServiceWitness {
  readonly #field: FuzzField;
  #read: number;
  #lookedAt = 0;

  constructor(field: FuzzField) {
    this.#field = field;
    this.#read = field.service.stdout().length;
  }

  /** @returns the first problem since the last call */
  complaint(): string | undefined {
    const { service } = this.#field;
    if (service.hasEnded()) return `the service ended:\n${service.stderr().slice(-2000)}`;
    if (performance.now() - this.#lookedAt < lookEveryMs) return undefined;
    this.#lookedAt = performance.now();
    if (service.stderr() !== '') return `standard error: ${service.stderr().slice(0, 2000)}`;
    const text = service.stdout().slice(this.#read);
    const end = text.lastIndexOf('\n') + 1;
    this.#read += end;
    for (const line of text.slice(0, end).split('\n').slice(0, -1)) {
      const problem = this.#problemOf(line);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** Does the same once everything is logged. */
  async lastComplaint(): Promise<string | undefined> {
    const { service, visitor } = this.#field;
    const mark = `/v1/${crypto.randomUUID()}`;
    if (!service.hasEnded()) {
      await fetch(visitor.origin + mark).catch(() => undefined);
      const isWritten = () =>
        service.hasEnded() || service.stdout().slice(this.#read).includes(mark);
      await until('the log is written', isWritten);
    }
    this.#lookedAt = 0;
    return this.complaint();
  }

  #problemOf(line: string): string | undefined {
    const secret = this.#field.secrets.find((one) => line.includes(one));
    if (secret !== undefined) return `the log has a secret: ${line}`;
    const { level } = parsed(line);
    if (level === undefined) return `a line of the log is no JSON: ${line}`;
    return level >= error ? `the log has an error: ${line}` : undefined;
  }
}

const parsed = (line: string): Partial<LogEntry> => {
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return {};
  }
};

/** The problem with the answers to a case, its kind before a colon; undefined if there is none. */
export const judge = (one: BytesCase, reply: Reply, { unseen }: FuzzField): string | undefined => {
  if (reply.end === 'late') return 'no answer within a minute';
  const text = reply.bytes.toString('latin1');
  const told = leak(text, unseen);
  if (told !== undefined) return told;
  if (one.target === 'edge HTTP/2') {
    return readFrames(reply.bytes).some(isServerError) ? 'a status of 500 or more' : undefined;
  }
  const methods = one.wants === 'answers' ? one.asks.map(({ method }) => method) : [];
  const answers = readAnswers(text, methods);
  // A client that still sends while the connection ends may lose the answer.
  const isSentAtOnce = one.pieces.length === 1 && one.pieces.join('').length < 30_000;
  if (one.wants === 'answers' && answers.length === 0 && isSentAtOnce) return 'no answer at all';
  for (const [at, answer] of answers.entries()) {
    // After a malformed request, answers cannot be assigned to requests.
    const ask = one.wants === 'answers' ? one.asks[at] : undefined;
    const problem =
      faultOf(answer, one.asks) ?? (ask && isApi(ask.path) ? apiProblem(answer, ask) : undefined);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const stack =
  /\n\s+at [^\n]{1,200}:\d+:\d+|node:internal|SQLITE_|SqliteError|-----BEGIN [A-Z ]*PRIVATE KEY/;

const leak = (text: string, unseen: readonly string[]): string | undefined => {
  const [found] = stack.exec(text) ?? [];
  if (found !== undefined) return `the answer tells of the inside: ${found.trim()}`;
  const shown = unseen.find((one) => text.includes(one));
  return shown === undefined ? undefined : `the answer has what nobody may see: ${shown}`;
};

const faultOf = ({ status, body }: Http1Answer, asks: readonly Ask[]): string | undefined => {
  // Too many concurrent uploads are the only fault that a client may cause.
  const isFull =
    status === 503 && body.includes('upload') && asks.some(({ path }) => path.includes('/deploys'));
  return status >= 500 && !isFull ? `status ${String(status)}: ${body.slice(0, 300)}` : undefined;
};

const isApi = (path: string): boolean => /^\/v1(\/[\w/.-]*)?(\?|$)/.test(path);

const limits = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
];

const apiProblem = (
  { status, headers, body }: Http1Answer,
  { method, path }: Ask,
): string | undefined => {
  const missing = ['x-request-id', ...limits].filter((name) => !headers.has(name));
  if (missing.length > 0)
    return `headers are missing: ${method} ${path}: ${String(status)} without ${missing.join(', ')}`;
  if (status < 400 || method === 'HEAD') return undefined;
  return isError(body, status)
    ? undefined
    : `a refusal is no Error: ${method} ${path}: ${String(status)}, ${body.slice(0, 300)}`;
};

const isError = (body: string, wanted: number): boolean => {
  try {
    const { code, message, status, ...others } = JSON.parse(body) as Record<string, unknown>;
    const isWhole = typeof code === 'string' && typeof message === 'string';
    return isWhole && status === wanted && Object.keys(others).length === 0;
  } catch {
    return false;
  }
};

const largestPage = 1024 * 1024;

/** Has a domain verified while its resolvers return nonsense. @returns the problem with the result */
export const verifyMangled = async (
  { domain, seed }: DnsCase,
  { hostOf, mangle, judges }: FuzzField,
): Promise<string | undefined> => {
  mangle(domain, seed);
  const visitor = judges[seed % judges.length];
  if (!visitor) throw new Error('nobody looks at what comes of it');
  const page = `/dashboard/projects/birds/settings/domains/${hostOf(domain)}`;
  const verified = await visitor.post(`${page}/verify`);
  if (verified.status >= 500) return `Verify was answered ${verified.status}: ${verified.text}`;
  const { status, text } = await visitor.get(page);
  if (status !== 200) return `the page of the domain was answered ${status}`;
  return text.length > largestPage
    ? `the page of the domain has ${text.length} characters`
    : undefined;
};
