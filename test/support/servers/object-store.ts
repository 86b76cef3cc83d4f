import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, createServer, request as ask } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import S3rver from '@20minutes/s3rver';
import type { S3Place } from '../../../src/adapters/storage/s3/s3-calls.ts';

/** Faults of a request. */
export type StoreFault =
  /** The store answers 503 `SlowDown` and does nothing. */
  | 'refused'
  /** The store answers 403 `AccessDenied`. */
  | 'denied'
  /** The connection breaks before the store receives the request. */
  | 'reset'
  /** The store executes the request, but its answer is lost. */
  | 'lost'
  /** The answer breaks off in the middle. */
  | 'cut'
  /** The store reports success, but does nothing. */
  | 'feigned'
  /** There is no answer. */
  | 'silent'
  /** The request takes this many milliseconds longer. */
  | number;

export interface StoreRequest {
  readonly method: string;
  readonly key: string;
  readonly query: string;
}

export interface ObjectStore {
  readonly place: S3Place;
  readonly settings: Readonly<Record<string, string>>;
  readonly requests: string[];
  fault: (request: StoreRequest) => StoreFault | undefined;
  /** The request is passed on after this promise. */
  before: (request: StoreRequest) => Promise<unknown>;
  mostListed: number;
  answer: (body: Buffer) => Buffer;
  keys(): Promise<readonly string[]>;
  /** Stores an object of one byte as fast as a file. */
  plant(key: string): Promise<void>;
  /** Keys of multipart uploads that were neither completed nor aborted. */
  unfinished(): Promise<readonly string[]>;
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

const bucket = 'deploys';
const user = 'S3RVER';

/** A real store with one bucket, behind a proxy that produces faults. The environment contains the credentials. */
export const startObjectStore = async (): Promise<ObjectStore> => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-s3-'));
  const address = '127.0.0.1';
  const serve = async (allowMismatchedSignatures: boolean) => {
    const configureBuckets = [{ name: bucket }];
    const server = new S3rver({
      address,
      port: 0,
      silent: true,
      directory: folder,
      configureBuckets,
      allowMismatchedSignatures,
    });
    const { port } = await server.run();
    return { server, port };
  };
  const objects = await serve(false);
  // This server expects a bucket's path without the final slash that clients sign.
  const lists = await serve(true);
  const credentials = { AWS_ACCESS_KEY_ID: user, AWS_SECRET_ACCESS_KEY: user };
  Object.assign(process.env, credentials);
  const prefix = `live/${randomUUID()}/`;
  const uploads = join(folder, bucket, '._S3rver_uploads');
  const agent = new Agent({ keepAlive: true });

  const proxy = createServer((request, response) => {
    pass(request, response).catch(() => request.socket.destroy());
  });
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, search } = new URL(request.url ?? '', 'http://store');
    const key = pathname.slice(`/${bucket}/${prefix}`.length);
    const { method = '' } = request;
    store.requests.push(`${method} ${key}${search}`);
    const told = { method, key, query: search };
    const fault = store.fault(told);
    await store.before(told);
    const body = await buffer(request);
    if (fault === 'silent') return;
    if (fault === 'reset') {
      request.socket.destroy();
    } else if (fault === 'feigned') {
      response.writeHead(204).end();
    } else if (fault === 'refused' || fault === 'denied') {
      const [status, code] = fault === 'denied' ? [403, 'AccessDenied'] : [503, 'SlowDown'];
      response.writeHead(status).end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
    } else {
      const answer = (await ownAnswer(request)) ?? (await forward(request, body));
      if (typeof fault === 'number') await delay(fault);
      if (fault === 'lost') request.socket.destroy();
      else deliver(response, answer, fault === 'cut');
    }
  };
  const forward = async (request: IncomingMessage, body: Buffer): Promise<Answer> => {
    const { method, url = '', headers } = request;
    const isList = url.startsWith(`/${bucket}/?`);
    const { port } = isList ? lists : objects;
    const path = isList ? `${url}&max-keys=${store.mostListed}` : url;
    const on = ask({ host: address, port, agent, method, path, headers });
    on.end(body);
    const [answer] = (await once(on, 'response')) as [IncomingMessage];
    const { statusCode: status = 0, headers: told } = answer;
    const content = await buffer(answer);
    if (method !== 'GET' || status >= 300) return { status, headers: told, body: content };
    const changed = store.answer(content);
    return { status, headers: { ...told, 'content-length': `${changed.length}` }, body: changed };
  };

  /** Implements two operations that this store lacks. */
  const ownAnswer = async ({ method, url = '' }: IncomingMessage): Promise<Answer | undefined> => {
    const query = new URL(url, 'http://store').searchParams;
    if (method === 'GET' && query.has('uploads')) {
      const found = await unfinished(query.get('prefix') ?? '');
      const rows = found.map(
        ({ id, key }) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`,
      );
      const xml = `<ListMultipartUploadsResult>${rows.join('')}</ListMultipartUploadsResult>`;
      return { status: 200, headers: {}, body: Buffer.from(xml) };
    }
    const id = query.get('uploadId');
    if (method !== 'DELETE' || id === null) return undefined;
    await rm(join(uploads, id), { recursive: true, force: true });
    return { status: 204, headers: {}, body: Buffer.alloc(0) };
  };
  const unfinished = async (start = '') => {
    const ids = await readdir(uploads).catch(() => []);
    const all = await Promise.all(
      ids.map(async (id) => ({ id, key: await readFile(join(uploads, id, 'key'), 'utf8') })),
    );
    return all.filter(({ key }) => key.startsWith(start));
  };

  const listen = async (port: number): Promise<number> => {
    proxy.listen(port, address);
    await once(proxy, 'listening');
    return (proxy.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const hangUp = async () => {
    proxy.close();
    proxy.closeAllConnections();
    await once(proxy, 'close');
  };
  const endpoint = `http://${address}:${port}`;
  const store: ObjectStore = {
    place: { bucket, prefix, endpoint },
    settings: {
      ...credentials,
      DEPLOYS_URL: `s3://${bucket}/${prefix}`,
      S3_ENDPOINT: endpoint,
    },
    requests: [],
    fault: () => undefined,
    before: () => Promise.resolve(),
    mostListed: 1000,
    answer: (body) => body,
    keys: async () => {
      const names = await readdir(join(folder, bucket), { recursive: true });
      return names
        .filter((name) => name.endsWith('._S3rver_object'))
        .map((name) => name.slice(0, -'._S3rver_object'.length))
        .sort();
    },
    plant: async (key) => {
      const path = join(folder, bucket, prefix, `${key}._S3rver_object`);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, 'x');
    },
    unfinished: async () => (await unfinished()).map(({ key }) => key),
    goAway: hangUp,
    comeBack: async () => void (await listen(port)),
    stop: async () => {
      if (proxy.listening) await hangUp();
      agent.destroy();
      await Promise.all([objects, lists].map(({ server }) => server.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
  return store;
};

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

const deliver = (
  response: ServerResponse,
  { status, headers, body }: Answer,
  isCut: boolean,
): void => {
  response.writeHead(status, headers);
  if (!isCut) {
    response.end(body);
    return;
  }
  response.write(body.subarray(0, body.length / 2), () => response.socket?.destroy());
};
