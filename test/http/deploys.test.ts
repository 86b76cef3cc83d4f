import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { IdempotencyKeys } from '../../src/access/ports.ts';
import { deployOperations } from '../../src/adapters/http/operations/deploy-operations.ts';
import { fingerprintOf } from '../../src/adapters/http/operations/operation-route.ts';
import { AccessKey, ConfigKey, SitesKey } from '../../src/app/keys.ts';
import type { Project } from '../../src/sites/domain/project.ts';
import type { Deploy, Site } from '../../src/sites/domain/site.ts';
import type { BegunDeploy } from '../../src/sites/use-cases/deploy-site.ts';
import { startApi, type Answer, type Call, type RunningApi } from '../support/http/running-api.ts';
import { tgzOf, zipOf } from '../support/sites/archive-bytes.ts';
import { until } from '../support/until.ts';

let api: RunningApi;
let key: string;
let project: Project;
beforeAll(async () => {
  api = await startApi('sqlite', { settings: { EDGE_HTTP_PORT: '8080' } });
  ({ secret: key } = await api.newKey({ scopes: ['deploys:write'] }));
});
afterAll(() => api.close());

const sites = () => api.container.get(SitesKey);
let projects = 0;
beforeEach(async () => {
  project = await sites().startProject(api.account.id, `Site ${(projects += 1)}`);
});

const page = (text: string) => tgzOf({ name: 'index.html', content: text });
const bytes = (archive: Buffer) => new Uint8Array(archive);

interface Sent extends Call {
  readonly slug?: string;
}

const send = async (
  archive: Buffer | Promise<Buffer>,
  { slug = project.slug, headers, ...call }: Sent = {},
): Promise<Answer> =>
  api.send(`/deploys/${slug}`, {
    method: 'POST',
    key,
    body: bytes(await archive),
    headers: { 'Content-Type': 'application/gzip', ...headers },
    ...call,
  });

const begin = (
  length: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array = '',
) => {
  const socket = connect(Number(new URL(api.origin).port), '127.0.0.1');
  const all = { Host: 'x', Authorization: `Bearer ${key}`, 'Content-Length': length, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /deploys/${project.slug} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.write(body);
  return socket;
};

const site = (): Promise<Site> => sites().getSite(project.slug);
const codeIn = ({ status, body }: Answer) => [status, (body as { code?: unknown }).code];
const kept = () => readdir(join(api.container.get(ConfigKey).dataDir, 'uploads'));

describe('a deploy by an API key', () => {
  test('is unpacked, served, and answered with its addresses', async () => {
    const answer = await send(page('Rex'), { headers: { 'X-Deploy-Message': 'Fix it' } });
    const host = `${project.slug}.sites.animal-store.test`;
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        deploy: {
          number: 1n,
          status: 'succeeded',
          files: 1n,
          bytes: 3n,
          url: `https://${host}:8443/`,
          previewUrl: `http://${project.slug}--1.sites.animal-store.test:8080/`,
        },
      },
    ]);
    const { deploys, servedDeployId } = await site();
    const [one] = await api.container
      .get(AccessKey)
      .listApiKeys(api.account.id)
      .then((all) => all.slice(-1));
    expect(deploys).toMatchObject([
      { id: servedDeployId, madeBy: `key:${one!.id}`, message: 'Fix it' },
    ]);
    expect(await kept()).toEqual([]);
  });

  test('can be read afterwards, by its number', async () => {
    await send(page('1'));
    await send(page('2'));
    const [first, second] = await Promise.all(
      [1, 2].map((n) => api.send(`/deploys/${project.slug}/${n}`, { key })),
    );
    expect(first).toMatchObject({ status: 200, body: { deploy: { number: 1n, served: false } } });
    expect(second).toMatchObject({ status: 200, body: { deploy: { number: 2n, served: true } } });
    const head = await api.send(`/deploys/${project.slug}/2`, { key, method: 'HEAD' });
    expect(head.status).toBe(200);
    for (const number of ['3', '01', 'x'])
      expect(codeIn(await api.send(`/deploys/${project.slug}/${number}`, { key }))).toEqual([
        404,
        'deploy_not_found',
      ]);
  });

  test('may be a zip, with any text as its message', async () => {
    const archive = zipOf([{ name: 'shop/index.html' }, { name: '__MACOSX/._shop' }]);
    const message = Buffer.from('Zoë’s 🐦 prices').toString('latin1');
    const answer = await send(archive, {
      headers: { 'Content-Type': 'application/zip', 'X-Deploy-Message': message },
    });
    expect(answer.status).toBe(201);
    expect((await site()).deploys).toMatchObject([{ files: 1, message: 'Zoë’s 🐦 prices' }]);
  });

  test.each([
    ['an upload that is not an archive', () => Buffer.from('hello'), /can't read this file/],
    ['a site without an index page', () => tgzOf({ name: 'a.txt', content: 'a' }), /no index.html/],
    ['a source folder', () => tgzOf({ name: '.env', content: 'KEY=1' }), /has ".env" at its top/],
  ] as const)('is refused for %s, with the reason', async (_, archive, reason) => {
    const answer = await send(archive());
    expect(codeIn(answer)).toEqual([422, 'deploy_refused']);
    expect(answer.body).toHaveProperty('message', expect.stringMatching(reason));
    const told = await api.send(`/deploys/${project.slug}/1`, { key });
    expect(told.body).toMatchObject({
      deploy: {
        status: 'failed',
        files: null,
        previewUrl: null,
        reason: expect.stringMatching(reason),
      },
    });
    expect(await kept()).toEqual([]);
  });

  test('is refused before it is read unless its type is that of an archive', async () => {
    for (const headers of [
      { 'Content-Type': 'application/json' },
      { 'Content-Type': 'multipart/form-data; boundary=x' },
      { 'Content-Type': 'application/zip', 'Content-Encoding': 'gzip' },
    ])
      expect(codeIn(await send(page('1'), { headers }))).toEqual([415, 'unsupported_media_type']);
    expect((await site()).deploys).toEqual([]);
  });

  test('is refused if it is larger than 200 MiB, announced or not', async () => {
    const socket = begin(200 * 1024 * 1024 + 1, { 'Content-Type': 'application/zip' });
    const [said] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(String(said)).toMatch(/^HTTP\/1.1 413 [^]+payload_too_large/);
    const piece = new Uint8Array(1024 * 1024);
    let left = 201;
    const body = new ReadableStream<Uint8Array>({
      pull: (stream) => {
        if ((left -= 1) < 0) stream.close();
        else stream.enqueue(piece);
      },
    });
    const answer = await send(Buffer.alloc(0), { body });
    expect(codeIn(answer)).toEqual([413, 'payload_too_large']);
    expect((await site()).deploys).toEqual([]);
    expect(await kept()).toEqual([]);
  });

  test('that is cut off in the middle leaves nothing', async () => {
    const headers = { 'Content-Type': 'application/zip', 'Idempotency-Key': 'cut' };
    const socket = begin(100_000, headers, 'half of it');
    await until('it is received', async () => (await kept()).length === 1);
    socket.destroy();
    await until('it is gone', async () => (await kept()).length === 0);
    expect((await site()).deploys).toEqual([]);
    const again = await send(page('again'), { headers: { 'Idempotency-Key': 'cut' } });
    expect(again.status).toBe(201);
  });
});

describe('the key of a deploy', () => {
  test('deploys nothing if it is revoked while the archive arrives', async () => {
    const { id, secret } = await api.newKey({ scopes: ['deploys:write'] });
    const archive = await page('late');
    const headers = { 'Content-Type': 'application/gzip', Authorization: `Bearer ${secret}` };
    const socket = begin(archive.length, headers, bytes(archive.subarray(0, 10)));
    await until('it is received', async () => (await kept()).length === 1);
    await api.container.get(AccessKey).revokeApiKey(id);
    socket.write(bytes(archive.subarray(10)));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /);
    expect((await site()).deploys).toEqual([]);
  });

  test.each([
    ['none', (): string | null => null, 401, 'missing_api_key'],
    ['an unknown key', (): string | null => 'pets_live_wrong', 401, 'invalid_api_key'],
    ['a key without the scope', (): string | null => api.account.key, 403, 'insufficient_scope'],
  ] as const)('is refused if it is %s', async (_, whose, status, code) => {
    expect(codeIn(await send(page('1'), { key: whose() }))).toEqual([status, code]);
    const asked = await api.send(`/deploys/${project.slug}/1`, { key: whose() });
    expect(codeIn(asked)).toEqual([status, code]);
    expect((await site()).deploys).toEqual([]);
  });

  test('for a single project deploys to that project, and does not reveal other projects', async () => {
    const projectId = await sites().projectIdOf(api.account.id, project.slug);
    const { secret } = await api.newKey({ scopes: ['deploys:write'], projectId });
    const other = await sites().startProject(api.account.id, `Site ${(projects += 1)}`);
    expect((await send(page('1'), { key: secret })).status).toBe(201);
    for (const slug of [other.slug, 'nowhere']) {
      const answer = await send(page('1'), { key: secret, slug });
      expect(codeIn(answer)).toEqual([403, 'insufficient_scope']);
    }
    expect((await sites().getSite(other.slug)).deploys).toEqual([]);
  });

  test('of another account does not find the project', async () => {
    const { id: accountId } = await api.newAccount();
    const access = api.container.get(AccessKey);
    const wish = { accountId, name: 'Theirs', scopes: ['deploys:write'] } as const;
    const { secret } = await access.createApiKey(wish);
    for (const slug of [project.slug, 'nowhere'])
      expect(codeIn(await send(page('1'), { key: secret, slug }))).toEqual([
        404,
        'project_not_found',
      ]);
    const asked = await api.send(`/deploys/${project.slug}/1`, { key: secret });
    expect(codeIn(asked)).toEqual([404, 'project_not_found']);
    expect((await site()).deploys).toEqual([]);
  });
});

test('other methods and paths are answered as everywhere else', async () => {
  const options = await api.send(`/deploys/${project.slug}`, { method: 'OPTIONS', key });
  expect([options.status, options.headers.get('Allow')]).toEqual([204, 'POST, OPTIONS']);
  const put = await api.send(`/deploys/${project.slug}`, { method: 'PUT', key });
  expect([codeIn(put), put.headers.get('Allow')]).toEqual([
    [405, 'method_not_allowed'],
    'POST, OPTIONS',
  ]);
  const one = await api.send(`/deploys/${project.slug}/1`, { method: 'DELETE', key });
  expect(one.headers.get('Allow')).toBe('GET, HEAD, OPTIONS');
  for (const path of ['/deploys', '/deploys/', '/deploys/a/1/b'])
    expect(codeIn(await api.send(path, { key }))).toEqual([404, 'route_not_found']);
});

describe('an Idempotency-Key', () => {
  const under = (name: string, archive: Buffer) =>
    send(archive, { headers: { 'Idempotency-Key': `${project.slug} ${name}` } });

  test('creates one deploy for a repeated request, and gives the same answer', async () => {
    const archive = await page('once');
    const [first, again] = [await under('a', archive), await under('a', archive)];
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect([first, again].map(({ headers }) => headers.get('Idempotent-Replayed'))).toEqual([
      null,
      'true',
    ]);
    expect((await site()).deploys).toHaveLength(1);
  });

  test('is bound to one archive', async () => {
    await under('a', await page('one'));
    expect(codeIn(await under('a', await page('another')))).toEqual([
      422,
      'idempotency_key_reused',
    ]);
  });

  test('repeats a refusal too', async () => {
    const archive = await tgzOf({ name: 'a.txt', content: 'a' });
    const [first, again] = [await under('a', archive), await under('a', archive)];
    expect([codeIn(again), again.text]).toEqual([[422, 'deploy_refused'], first.text]);
    expect((await site()).deploys).toHaveLength(1);
  });

  test('creates one deploy for simultaneous requests', async () => {
    const archive = await page('at once');
    const answers = await Promise.all([under('a', archive), under('a', archive)]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toContain(201);
    for (const status of statuses) expect([201, 409]).toContain(status);
    expect((await site()).deploys).toHaveLength(1);
  });

  test('waits for a running deploy, and starts again once its process has died', async () => {
    const archive = await page('crash');
    const name = `${project.slug} a`;
    const sent = `${project.slug}\n${hash('sha256', archive, 'hex')}`;
    const { id: accountId } = api.account;
    const fingerprint = fingerprintOf('deploySite', sent);
    // Acts like a process that is killed while it unpacks.
    await api.container
      .get(IdempotencyKeys)
      .once({ accountId, key: name, fingerprint, now: api.clock.now() }, async () => {
        const origin = { madeBy: 'operator', message: undefined } as const;
        const begun = await sites().beginDeploy(project, origin);
        const claimedUntil = new Date(api.clock.now().getTime() + 30_000);
        const body = JSON.stringify({ deployId: begun.id, claimedUntil });
        return { status: 202, headers: {}, body };
      });
    const waiting = await under('a', archive);
    expect(codeIn(waiting)).toEqual([409, 'idempotency_in_progress']);
    expect(waiting.headers.get('Retry-After')).toBe('1');
    api.clock.advance(30_000);
    expect((await under('a', archive)).status).toBe(201);
    expect((await site()).deploys).toMatchObject([{ state: 'succeeded' }, { state: 'failed' }]);
    expect((await under('a', archive)).headers.get('Idempotent-Replayed')).toBe('true');
  });

  test('counts as running as long as its process renews its claim', async () => {
    const archive = await page('long');
    const archiveHash = hash('sha256', archive, 'hex');
    const idempotencyKeys = api.container.get(IdempotencyKeys);
    const caller = await api.container.get(AccessKey).authenticate(key);
    const { accountId } = caller;
    const fingerprint = fingerprintOf('deploySite', `${project.slug}\n${archiveHash}`);
    const request = { accountId, key: `${project.slug} a`, fingerprint, now: api.clock.now() };
    const kept = async () => JSON.stringify(await idempotencyKeys.once(request, notAgain));
    const notAgain = () => Promise.reject(new Error('it ran twice'));
    const ticks: (() => void)[] = [];
    const timers = jest.spyOn(globalThis, 'setInterval').mockImplementation((tick) => {
      ticks.push(tick);
      return undefined as never;
    });
    const unpack = async ({ site: begun }: BegunDeploy): Promise<Deploy> => {
      timers.mockRestore();
      const first = await kept();
      api.clock.advance(20_000);
      ticks[0]?.();
      await until('the claim is renewed', async () => (await kept()) !== first);
      api.clock.advance(20_000);
      expect(codeIn(await under('a', archive))).toEqual([409, 'idempotency_in_progress']);
      return begun.deploys[0]!;
    };
    const [deploy] = deployOperations({
      access: { authenticate: () => Promise.resolve(caller) },
      sites: sites(),
      uploads: {
        takeBody: (_project, _request, work) => work({ hash: archiveHash, unpack }),
        discard: () => undefined,
      },
      addresses: { urlOf: (slug) => slug, previewOf: () => Promise.resolve(undefined) },
      idempotencyKeys,
      clock: api.clock,
    });
    const headers = {
      'content-type': 'application/gzip',
      'idempotency-key': request.key,
      authorization: `Bearer ${key}`,
    };
    const sent = { headers } as unknown as IncomingMessage;
    const parameters = { slug: project.slug };
    const call = { caller, parameters, request: sent, query: undefined, body: undefined };
    expect(await deploy!.handle(call)).toMatchObject({ status: 201 });
  });
});
