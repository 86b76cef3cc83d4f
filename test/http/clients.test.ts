import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  AnimalStore,
  type AnimalStoreOptions,
  type ErrorCode,
  isStoreError,
  StoreError,
} from '../../clients/typescript/src/animal-store.ts';
import { int64AsStrings } from '../../clients/typescript/src/int64-as-strings.ts';
import { errorTable } from '../../src/adapters/http/error-table.ts';
import { browserStartMs, startBrowser, type TestBrowser } from '../support/dashboard/browser.ts';
import { type RunningApi, startApi, type TestAccount } from '../support/http/running-api.ts';
import { type ClientFolder, openClientFolder } from '../support/clients/generated-client.ts';

const large = 9007199254740993n;

const all = async <Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> => {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
};

const sources = join(import.meta.dirname, '../../clients/typescript/src');

describe('the TypeScript client', () => {
  let api: RunningApi;
  let browser: TestBrowser;
  beforeAll(async () => {
    api = await startApi('sqlite', { plan: 'free' });
    browser = await startBrowser(api.origin);
  }, browserStartMs);
  afterAll(async () => {
    await browser.closePages();
    await api.close();
  });

  const storeOf = ({ key }: TestAccount, options: Partial<AnimalStoreOptions> = {}) =>
    new AnimalStore({ baseUrl: `${api.origin}/v1`, apiKey: key, ...options });

  const caught = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  test('keeps every digit of an id in both directions', async () => {
    const store = storeOf(await api.newAccount());
    const largest = 9223372036854775807n;
    const [first, second] = [
      await store.createPet({ name: 'Rex', categoryId: large }),
      await store.createPet({ name: '9007199254740993', categoryId: largest, status: 'sold' }),
    ];
    expect(first).toMatchObject({ categoryId: large, status: 'available' });
    expect(await all(store.listPets())).toEqual([first, second]);
    expect(await all(store.listPets({ status: 'sold' }))).toEqual([second]);
    // oxlint-disable-next-line typescript/no-deprecated -- The client has it as long as the API has.
    expect(await store.getPet(first.id)).toEqual(first);
    expect(await all(store.listOrders())).toEqual([]);
  });

  test('fetches page after page, and no more than needed', async () => {
    const account = await api.newAccount();
    const asked: string[] = [];
    const counting: typeof fetch = (input, init) => {
      asked.push(new Request(input, init).url);
      return fetch(input, init);
    };
    const store = storeOf(account, { fetch: counting });
    for (const name of ['Ada', 'Bob', 'Cleo', 'Dora', 'Emil']) {
      await store.createPet({ name, categoryId: 1n });
    }
    asked.length = 0;
    const names: string[] = [];
    for await (const { name } of store.listPets({ pageSize: 2 })) names.push(name);
    expect(names).toEqual(['Ada', 'Bob', 'Cleo', 'Dora', 'Emil']);
    expect(asked).toHaveLength(3);
    for (const url of asked) expect(url).toMatch(new RegExp(`^${api.origin}/v1/pets\\?`));
    for await (const { name } of store.listPets({ pageSize: 2 })) if (name === 'Ada') break;
    expect(asked).toHaveLength(4);
  });

  test('waits as long as Retry-After says, and continues', async () => {
    const waits: number[] = [];
    const store = storeOf(await api.newAccount(), {
      wait: (ms) => {
        waits.push(ms);
        api.clock.advance(ms);
        return Promise.resolve();
      },
    });
    for (let sent = 0; sent < 61; sent++) await all(store.listPets());
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThanOrEqual(1000);
    expect(waits[0]).toBeLessThan(61_000);
  });

  test('does not wait when the daily quota is used up, but says when it resets', async () => {
    const answers = [429, 429].map(() =>
      Response.json(
        { code: 'daily_quota_exceeded', message: 'Used up.', status: 429 },
        { status: 429, headers: { 'Retry-After': '3600' } },
      ),
    );
    const store = storeOf(api.account, {
      fetch: () => Promise.resolve(answers.shift() ?? Response.error()),
    });
    const error = await caught(all(store.listPets()));
    expect(isStoreError(error, 'daily_quota_exceeded')).toBe(true);
    expect(error).toMatchObject({ retryAfter: 3600 });
    expect(answers).toHaveLength(1);
  });

  test('adds only one animal when the answer to the first try is lost', async () => {
    let lost = 0;
    const losing: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      if (lost++ === 0) throw new TypeError('fetch failed');
      return answer;
    };
    const store = storeOf(await api.newAccount(), { fetch: losing, wait: () => Promise.resolve() });
    const pet = await store.createPet({ name: 'Rex', categoryId: 7n });
    expect(lost).toBe(2);
    expect(await all(store.listPets())).toEqual([pet]);
  });

  test('gives up after the allowed number of tries', async () => {
    let tries = 0;
    const store = storeOf(api.account, {
      tries: 3,
      wait: () => Promise.resolve(),
      fetch: () => {
        tries += 1;
        return Promise.reject(new TypeError('fetch failed'));
      },
    });
    expect(await caught(all(store.listPets()))).toBeInstanceOf(TypeError);
    expect(tries).toBe(3);
  });

  test('throws an error with the code that the API answered', async () => {
    const store = storeOf(api.account);
    const error = await caught(store.createPet({ name: '', categoryId: 0n }));
    expect(error).toBeInstanceOf(StoreError);
    expect(isStoreError(error, 'validation_failed')).toBe(true);
    expect(isStoreError(error, 'pet_not_found')).toBe(false);
    expect(error).toMatchObject({ status: 400, message: expect.stringMatching(/name must be/) });
    expect((error as StoreError).requestId).toMatch(/^[0-9a-f-]{36}$/);
    const stranger = new AnimalStore({ baseUrl: `${api.origin}/v1`, apiKey: 'pets_live_wrong' });
    const refused = await caught(all(stranger.listPets()));
    expect(isStoreError(refused, 'invalid_api_key')).toBe(true);
    const codes: Readonly<Record<ErrorCode, unknown>> = errorTable;
    expect(codes satisfies Readonly<Record<keyof typeof errorTable, unknown>>).toBe(errorTable);
  });

  test('stops when the caller aborts, even while it waits', async () => {
    const controller = new AbortController();
    const store = storeOf(api.account, {
      fetch: () => {
        queueMicrotask(() => controller.abort(new Error('enough')));
        return Promise.resolve(
          new Response(null, { status: 503, headers: { 'Retry-After': '80' } }),
        );
      },
    });
    const { signal } = controller;
    expect(await caught(all(store.listPets({ signal })))).toEqual(new Error('enough'));
  });

  test('abandons a try that takes too long', async () => {
    const silent: typeof fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
      });
    const store = storeOf(api.account, { fetch: silent, timeoutMs: 5, tries: 1 });
    expect(await caught(all(store.listPets()))).toMatchObject({ name: 'TimeoutError' });
  });

  test('throws where JavaScript would round a number', async () => {
    const json = JSON as { rawJSON?: unknown };
    const kept = json.rawJSON;
    delete json.rawJSON;
    const error = await caught(storeOf(api.account).createPet({ name: 'Rex', categoryId: large }));
    json.rawJSON = kept;
    expect(String(error)).toContain('rounds large numbers');
  });

  test('gives other clients a fetch function with ids as strings', async () => {
    const send = int64AsStrings();
    const { key } = await api.newAccount();
    const answer = await send(`${api.origin}/v1/pets`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: `{"name":"123","categoryId":"${large}"}`,
    });
    expect(answer.status).toBe(201);
    expect(await answer.json()).toMatchObject({ name: '123', categoryId: String(large) });
    const missing = await send(`${api.origin}/v1/pets`);
    expect([missing.status, await missing.json()]).toMatchObject([401, { status: 401 }]);
  });

  test('runs in a browser', async () => {
    const { key } = await api.newAccount();
    const page = await browser.open();
    await page.intercept((request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith('/client/')) return undefined;
      const source = readFileSync(join(sources, pathname.replace('/client/', '')), 'utf8');
      return { contentType: 'text/javascript', body: stripTypeScriptTypes(source) };
    });
    await page.goto(`${api.origin}/docs`);
    const added = await page.raw.evaluate(
      async ({ apiKey, baseUrl }) => {
        const module = '/client/animal-store.ts';
        const { AnimalStore: Store } = (await import(module)) as {
          AnimalStore: typeof AnimalStore;
        };
        const store = new Store({ baseUrl, apiKey });
        await store.createPet({ name: 'Rex', categoryId: 9007199254740993n });
        const pets: string[] = [];
        for await (const pet of store.listPets()) pets.push(String(pet.categoryId));
        return pets;
      },
      { apiKey: key, baseUrl: `${api.origin}/v1` },
    );
    expect(added).toEqual([String(large)]);
    await browser.closePages();
  });

  test('is built as JavaScript with types, which Node can run', () => {
    const folder = mkdtempSync(join(tmpdir(), 'animal-store-client-'));
    const project = join(sources, '../tsconfig.json');
    execFileSync('node', ['node_modules/typescript/bin/tsc', '-p', project, '--outDir', folder]);
    const types = readFileSync(join(folder, 'animal-store.d.ts'), 'utf8');
    const code = readFileSync(join(folder, 'animal-store.js'), 'utf8');
    rmSync(folder, { recursive: true });
    expect(types).toContain('export declare class AnimalStore');
    expect(code).toMatch(/from ['"]\.\/retrying-fetch\.js['"]/);
  });
});

describe('a generated client', () => {
  let folder: ClientFolder;
  beforeAll(async () => {
    folder = await openClientFolder({
      'openapi-ts.mjs': ['### openapi-typescript', 0],
      'openapi-fetch.ts': ['### openapi-typescript', 1],
    });
    await folder.run('openapi-ts.mjs');
  });
  afterAll(() => folder.close());

  test('compiles strictly when openapi-typescript makes it as docs/clients.md describes', async () => {
    expect(await folder.compile()).toBe('');
  });

  test('adds an animal with an exact id, reads all pages and gets the code of an error', async () => {
    await folder.expectTrial('openapi-fetch.ts');
  });
});
