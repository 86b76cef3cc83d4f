import { expect } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Container } from 'inversify';
import pino from 'pino';
import type { Plan } from '../../../src/access/domain/quota.ts';
import type { IssuedKey, KeyWish } from '../../../src/access/use-cases/api-keys.ts';
import { HttpServer } from '../../../src/adapters/http/listener/http-server.ts';
import { Database } from '../../../src/adapters/kysely/database.ts';
import { SettableClock } from '../settable-clock.ts';
import { loadConfig } from '../../../src/app/settings/config.ts';
import { openContainer } from '../../../src/app/container.ts';
import { AccessKey } from '../../../src/app/keys.ts';
import { AsyncDeadline } from '../../../src/adapters/system/system-ports.ts';
import { Clock, Deadline } from '../../../src/kernel/ports.ts';
import { openDatabase, type DatabaseKind } from '../servers/databases.ts';
import { migratedDatabase } from '../servers/migrated-database.ts';
import {
  documentedAnswers,
  type ApiDocument,
  type DocumentedAnswers,
} from './documented-answers.ts';
import { exactJson } from './exact-json.ts';

/** The advertised address of the API; no test may depend on the real one. */
export const publicUrl = 'https://api.animal-store.test/v1';

export interface Call {
  readonly method?: string;
  /** Undefined uses the key of the first account; null uses none. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent unchanged, as JSON unless `headers` say otherwise. A stream is sent in chunks. */
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Integers are bigints. Undefined without a JSON body. */
  readonly body: unknown;
}

export interface RunningApi {
  readonly origin: string;
  readonly databaseUrl: string;
  readonly container: Container;
  readonly clock: SettableClock;
  readonly document: ApiDocument;
  readonly account: TestAccount;
  newAccount(): Promise<TestAccount>;
  newKey(wish: Omit<KeyWish, 'accountId' | 'name'>): Promise<IssuedKey>;
  /** Sends a request and checks the answer against the rules for all answers. */
  send(path: string, call?: Call): Promise<Answer>;
  add(name: string, status?: string, key?: string): Promise<bigint>;
  close(): Promise<void>;
}

export interface TestAccount {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
}

export interface ApiOptions {
  readonly now?: Date;
  readonly settings?: Readonly<Record<string, string>>;
  /** The plan of created accounts; enterprise by default, so that no test meets a limit by accident. */
  readonly plan?: Plan;
  readonly databaseUrl?: string;
  /** Deadline of each request; an hour by default, so that no test fails on a busy machine. */
  readonly deadlineMs?: number;
}

/** The real service in this process, on an empty database and its own port. */
export const startApi = async (
  kind: DatabaseKind,
  {
    now = new Date('2027-03-01T12:00:00Z'),
    settings = {},
    databaseUrl,
    plan = 'enterprise',
    deadlineMs = 60 * 60_000,
  }: ApiOptions = {},
): Promise<RunningApi> => {
  const home = databaseUrl === undefined ? await migratedDatabase(kind) : undefined;
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-data-'));
  const config = loadConfig({
    DATABASE_URL: home?.url ?? databaseUrl,
    DATA_DIR: folder,
    PUBLIC_URL: publicUrl,
    SECRET_KEY: 'a secret key for tests, long enough',
    ...settings,
  });
  const container = await openContainer(config, pino({ level: 'silent' }));
  const clock = new SettableClock(now);
  container.rebind(Clock).toConstantValue(clock);
  const deadline = new AsyncDeadline(deadlineMs);
  container.rebind(Deadline).toConstantValue(deadline);
  const database = openDatabase(config.databaseUrl, deadline);
  container.rebind(Database).toConstantValue(database);
  const server = container.get(HttpServer);
  const origin = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
  const access = container.get(AccessKey);

  let accounts = 0;
  const newAccount = async (): Promise<TestAccount> => {
    accounts += 1;
    const email = `owner-${accounts}@${folder.slice(-6)}.example`;
    const { account, key } = await access.createAccount({ name: 'Zoo', email, plan });
    return { id: account.id, keyId: key.id, key: key.secret };
  };
  const account = await newAccount();
  const documented = await documentOf(origin);
  const send = async (path: string, { key = account.key, headers, ...call }: Call = {}) => {
    const answer = await exchange(origin + path, {
      ...call,
      headers: {
        ...(key !== null && { Authorization: `Bearer ${key}` }),
        ...(call.body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
    });
    checkAnswer(documented, call.method ?? 'GET', path, answer);
    if (documented && /^\/(v1|deploys)(\/|\?|$)/.test(path)) checkLimits(answer, clock.now());
    return answer;
  };
  return {
    origin,
    databaseUrl: config.databaseUrl,
    container,
    clock,
    account,
    document: documented?.document ?? ({} as ApiDocument),
    newAccount,
    newKey: (wish) => access.createApiKey({ ...wish, accountId: account.id, name: 'Another' }),
    send,
    add: async (name, status = 'available', key = account.key) => {
      const body = JSON.stringify({ name, categoryId: 1, status });
      const answer = await send('/v1/pets', { method: 'POST', key, body });
      expect(answer.status).toBe(201);
      return (answer.body as { id: bigint }).id;
    },
    close: async () => {
      await server.stop();
      await container.unbindAllAsync();
      await database.close();
      await home?.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const exchange = async (url: string, call: Omit<Call, 'key'>): Promise<Answer> => {
  const streamed = call.body instanceof ReadableStream;
  const response = await fetch(url, {
    ...call,
    redirect: 'manual',
    ...(streamed && { duplex: 'half' }),
  });
  const text = await response.text();
  const isJson = /^application\/json\b/.test(response.headers.get('Content-Type') ?? '');
  const body = isJson && text !== '' ? exactJson(text) : undefined;
  return { status: response.status, headers: response.headers, text, body };
};

/** Keyed by the document's text. It is the same on all databases, so its schemas are compiled once. */
const known = new Map<string, DocumentedAnswers>();

/** Undefined if this process does not serve the API. */
const documentOf = async (origin: string): Promise<DocumentedAnswers | undefined> => {
  const response = await fetch(`${origin}/v1/openapi.json`);
  const text = await response.text();
  if (!response.ok) return undefined;
  const documented = known.get(text) ?? documentedAnswers(JSON.parse(text) as ApiDocument);
  known.set(text, documented);
  return documented;
};

const checkAnswer = (
  documented: DocumentedAnswers | undefined,
  method: string,
  path: string,
  { status, headers, text }: Answer,
): void => {
  expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
  const bodiless = method === 'HEAD' || status === 204;
  if (bodiless) expect(text).toBe('');
  if (path.startsWith('/v1/') && status !== 204) {
    expect(headers.get('Content-Type')).toMatch(/^application\/json(; charset=utf-8)?$/);
  }
  if (status >= 400 && !path.startsWith('/readyz') && !bodiless) {
    const error = JSON.parse(text) as Record<string, unknown>;
    expect(Object.keys(error)).toEqual(['code', 'message', 'status']);
    expect(error['status']).toBe(status);
    expect(error['message']).toMatch(/^\S.{9,}/su);
  }
  const json: unknown = bodiless || !path.startsWith('/v1/') ? undefined : JSON.parse(text);
  const below = (path.split('?')[0] ?? '').replace(/^\/v1/, '');
  const known =
    path.startsWith('/v1/') && documented?.check(method, below, { status, headers, json });
  // Deploys are not part of the document.
  if (known || path.startsWith('/deploys/')) return;
  if (status >= 400) expect([404, 405, 429, 503]).toContain(status);
};

/** Every answer below /v1 has these headers, with correct values. */
const checkLimits = ({ status, headers }: Answer, now: Date): void => {
  const number = (name: string) => Number(headers.get(name) ?? 'absent');
  const seconds = now.getTime() / 1000;
  const [limit, left, reset] = ['Limit', 'Remaining', 'Reset'].map((one) =>
    number(`X-RateLimit-${one}`),
  ) as [number, number, number];
  expect([limit, left, reset].every(Number.isInteger)).toBe(true);
  expect(left).toBeGreaterThanOrEqual(0);
  expect(left).toBeLessThanOrEqual(limit);
  expect(reset).toBeGreaterThan(seconds);
  expect(headers.get('RateLimit-Policy')).toMatch(/^"minute";q=\d+;w=60(, "day";q=\d+;w=86400)?$/);
  const [, window, r, t] =
    /^"(minute|day)";r=(\d+);t=(\d+)$/.exec(headers.get('RateLimit') ?? '') ?? [];
  expect([window === 'day' || limit < 10_000, Number(r)]).toEqual([true, left]);
  expect(Number(t)).toBe(Math.max(1, Math.ceil(reset - seconds)));
  if (status !== 429) return;
  expect(left).toBe(0);
  expect(number('Retry-After')).toBe(Number(t));
};
