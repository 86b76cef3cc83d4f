import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { packSite, type PackedSite } from '../../adapters/archives/pack-site.ts';
import { DomainError } from '../../kernel/decision.ts';
import { bytesInWords, counted } from '../../kernel/text.ts';
import type { ShowProgress } from './run-command.ts';

export interface Elsewhere {
  readonly source: string;
  readonly project: string;
  /** The origin, without a path. */
  readonly to: URL;
  readonly key: string;
  readonly message: string | undefined;
}

export type Deployed =
  | { readonly kind: 'deployed'; readonly deploy: v.InferOutput<typeof deployed> }
  | { readonly kind: 'refused'; readonly explanation: string };

const deployed = v.object({
  number: v.number(),
  status: v.string(),
  files: v.nullable(v.number()),
  bytes: v.nullable(v.number()),
  url: v.string(),
  previewUrl: v.nullable(v.string()),
});
const deployBody = v.object({ deploy: deployed });
const servedBody = v.object({ deploy: v.object({ served: v.boolean() }) });
const errorBody = v.object({ code: v.string(), message: v.string() });

/** Deploys to another service, and returns once the deploy is served there. Retries use one Idempotency-Key. @throws Error */
export const deployElsewhere = async (to: Elsewhere, show: ShowProgress): Promise<Deployed> => {
  const site = await packSite(to.source);
  const idempotencyKey = randomUUID();
  const path = `/deploys/${encodeURIComponent(to.project)}`;
  const answer = await patiently(() => {
    let sent = 0;
    const content = site.read((more) => {
      sent += more;
      show('KiB sent', Math.ceil(sent / 1024), Math.ceil(site.bytes / 1024));
    });
    return call(to, path, { ...headersFor(to, site), 'Idempotency-Key': idempotencyKey }, content);
  });
  if (answer.status === 422 && codeIn(answer) === 'deploy_refused') {
    return { kind: 'refused', explanation: explanationIn(answer) };
  }
  if (answer.status !== 201) throw new Error(explanationIn(answer));
  const { deploy } = v.parse(deployBody, JSON.parse(answer.body));
  await untilServed(to, `${path}/${String(deploy.number)}`);
  return { kind: 'deployed', deploy };
};

const headersFor = ({ message }: Elsewhere, { type }: PackedSite): Record<string, string> => ({
  'Content-Type': type,
  // Node writes headers as Latin-1, so this passes the UTF-8 bytes.
  ...(message !== undefined && { 'X-Deploy-Message': Buffer.from(message).toString('latin1') }),
});

interface Answer {
  readonly status: number;
  /** The pause that the service asks for, in seconds. */
  readonly retryAfter: number | undefined;
  readonly body: string;
}

/** The largest archive may take ten minutes to unpack, and others may be ahead of it. */
const longestAnswerMs = 30 * 60_000;

const call = async (
  { to, key }: Elsewhere,
  path: string,
  ...[headers = {}, content]: readonly [Record<string, string>?, AsyncIterable<Uint8Array>?]
): Promise<Answer> => {
  const send = to.protocol === 'https:' ? requestSecure : requestPlain;
  const request = send(new URL(path, to), {
    method: content ? 'POST' : 'GET',
    headers: { ...headers, Authorization: `Bearer ${key}`, Accept: 'application/json' },
    agent: false,
  });
  request.setTimeout(longestAnswerMs, () => request.destroy(new Error('it does not answer')));
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  const sent = content ? pipeline(Readable.from(content), request) : undefined;
  if (!content) request.end();
  // The service may refuse before it has received everything. A local read error fails at once.
  const [response] = await Promise.race([answered, failureOf(sent)]);
  const body = await text(response);
  request.destroy();
  await sent?.catch(() => undefined);
  const after = Number(response.headers['retry-after']);
  return {
    status: response.statusCode ?? 0,
    retryAfter: Number.isFinite(after) ? after : undefined,
    body,
  };
};

const failureOf = (work: Promise<unknown> | undefined): Promise<never> =>
  new Promise((_, reject) => {
    work?.catch(reject);
  });

const repeatable: readonly number[] = [408, 409, 429, 500, 502, 503, 504];
/** The last pause. Each earlier pause is half as long. */
const longestPauseMs = 30_000;
const mostTries = 8;
const longestWaitSeconds = 120;

/** Retries temporary failures. While the first request still runs, the service answers 409, which does not count as a try. */
const patiently = async (ask: () => Promise<Answer>): Promise<Answer> => {
  const begun = Date.now();
  for (let tries = 1; ; tries++) {
    const outcome = await ask().catch((error: unknown) => error as Error);
    if (outcome instanceof Error && !isPassing(outcome)) throw outcome;
    const isLast = tries >= mostTries || Date.now() - begun > longestAnswerMs;
    if (outcome instanceof Error) {
      if (isLast) throw new Error(`The service cannot be reached: ${outcome.message}`);
    } else if (!repeatable.includes(outcome.status) || isLast) return outcome;
    else if ((outcome.retryAfter ?? 0) > longestWaitSeconds) return outcome;
    const asked = outcome instanceof Error ? 0 : (outcome.retryAfter ?? 0) * 1000;
    const pause = Math.max(asked, longestPauseMs / 2 ** Math.max(0, mostTries - 2 - tries));
    if (!(outcome instanceof Error) && outcome.status === 409) tries -= 1;
    await delay(pause * (1 + Math.random() / 4));
  }
};

/** A wrong name or certificate is permanent. */
const isPassing = (error: Error): boolean => {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (error instanceof DomainError || error instanceof TypeError) return false;
  return !/CERT|TLS|SSL|SIGNATURE|ENOTFOUND/.test(code);
};

/** Gives up after several checks, because a deploy that a newer one overtook is never served. */
const untilServed = async (to: Elsewhere, path: string): Promise<void> => {
  for (let looks = 0; looks < mostTries; looks++) {
    const answer = await patiently(() => call(to, path));
    if (answer.status !== 200) throw new Error(explanationIn(answer));
    if (v.parse(servedBody, JSON.parse(answer.body)).deploy.served) return;
    await delay(1000);
  }
};

const errorIn = ({ body }: Answer): v.InferOutput<typeof errorBody> | undefined => {
  try {
    return v.parse(errorBody, JSON.parse(body));
  } catch {
    return undefined;
  }
};

const codeIn = (answer: Answer): string | undefined => errorIn(answer)?.code;

const explanationIn = (answer: Answer): string =>
  errorIn(answer)?.message ??
  `The address answered ${String(answer.status)}, but not like this service. Check --to.`;

export const deployedInWords = (done: Deployed): string => {
  if (done.kind === 'refused') {
    return `The deploy was refused. ${done.explanation}\nWhat visitors see does not change.`;
  }
  const { number, files, bytes, url, previewUrl } = done.deploy;
  const preview = previewUrl === null ? '' : `\nPreview: ${previewUrl}`;
  return `Deploy ${String(number)}: ${counted(files ?? 0, 'file')}, ${bytesInWords(bytes ?? 0)}.\n${url}${preview}`;
};
