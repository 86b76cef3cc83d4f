import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ContentCache } from '../../../src/adapters/storage/s3/content-cache.ts';
import { S3Contents } from '../../../src/adapters/storage/s3/s3-contents.ts';
import { S3Store } from '../../../src/adapters/storage/s3/s3-store.ts';
import type { Span, Step } from '../../../src/kernel/tracer.ts';
import { RecordingTracer } from '../../support/recording-tracer.ts';
import { startObjectStore, type ObjectStore } from '../../support/servers/object-store.ts';
import { until } from '../../support/until.ts';

const many = Array.from({ length: 40 }, (_, index) => index);

const current = new AsyncLocalStorage<string>();

class OwnersTracer extends RecordingTracer {
  readonly owners: string[] = [];

  override step<T>(step: Step, work: (span: Span) => Promise<T>): Promise<T> {
    this.owners.push(`${step.name} of ${current.getStore() ?? 'nobody'}`);
    return super.step(step, work);
  }
}

let bucket: ObjectStore;
let folder: string;
let file: string;
beforeAll(async () => {
  bucket = await startObjectStore();
  folder = await mkdtemp(join(tmpdir(), 'animal-store-turns-'));
  file = join(folder, 'small');
  await writeFile(file, 'Rex');
});
afterAll(async () => {
  await bucket.stop();
  await rm(folder, { recursive: true });
});

let tracer: OwnersTracer;
let store: S3Store;
beforeEach(() => {
  tracer = new OwnersTracer();
  store = new S3Store(bucket.place, tracer);
});

const oneAfterMany = async (call: (name: string) => Promise<unknown>): Promise<void> => {
  const { promise: more, resolve: goOn } = Promise.withResolvers<undefined>();
  bucket.before = () => more;
  const calls = current.run('Rex', () => many.map((one) => call(`dep_1/${one}`)));
  calls.push(current.run('Tom', () => call('dep_1/last')));
  await until('the turns are taken', () => tracer.owners.length > 0);
  goOn(undefined);
  await Promise.all(calls);
  bucket.before = () => Promise.resolve();
  store.close();
};

test('storing a file is traced under the request that stores it, even if the file waited for its turn', async () => {
  const { signal } = new AbortController();
  await oneAfterMany((name) => store.writeFile(name, { path: file, bytes: 3 }, signal));
  expect(tracer.owners).toHaveLength(many.length + 1);
  expect(tracer.owners.filter((one) => one !== 'S3 PutObject of Rex')).toEqual([
    'S3 PutObject of Tom',
  ]);
});

test('fetching content is traced under the visit that requested it, even if the content waited for its turn', async () => {
  const cache = new ContentCache({
    folder: join(folder, 'cache'),
    mostBytes: 0,
    onProblem: () => undefined,
  });
  const contents = new S3Contents(store, cache);
  await oneAfterMany((name) => contents.whole('dep_2', name.replace('dep_1/', '')));
  expect(tracer.owners).toHaveLength(many.length + 1);
  expect(tracer.owners.filter((one) => one !== 'S3 GetObject of Rex')).toEqual([
    'S3 GetObject of Tom',
  ]);
});
