import type { Ask, BytesCase } from './fuzz-case.ts';
import type { FuzzField } from './fuzz-field.ts';
import { readAnswers, type Http1Answer } from './http1-answers.ts';
import { isServerError, readFrames } from './http2-frames.ts';
import type { Reply } from './send.ts';

/** What is wrong with the answers to a case, its sort before a colon; undefined when nothing is. */
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
  // Who goes on to send while the connection ends may lose the answer with it.
  const isSentAtOnce = one.pieces.length === 1 && one.pieces.join('').length < 30_000;
  if (one.wants === 'answers' && answers.length === 0 && isSentAtOnce) return 'no answer at all';
  for (const [at, answer] of answers.entries()) {
    // Behind something malformed it is not known any more which request is answered.
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
  // More uploads at once than there are places for is the one fault that a client may cause.
  const isFull =
    status === 503 && body.includes('upload') && asks.some(({ path }) => path.includes('/deploys'));
  return status >= 500 && !isFull ? `status ${String(status)}: ${body.slice(0, 300)}` : undefined;
};

/** Of a path that is sent as it stands. */
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
