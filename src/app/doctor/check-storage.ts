import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { S3Failure } from '../../adapters/storage/s3/s3-calls.ts';
import type { S3Store } from '../../adapters/storage/s3/s3-store.ts';
import { dataFolderProblem } from '../failure-words.ts';
import { onDemand } from '../on-demand.ts';
import { objectStoreIn } from '../settings/addresses.ts';
import type { Config } from '../settings/settings.ts';
import { failed, type Finding, ok, warning } from './finding.ts';

const mib = 1024 * 1024;
const least = { toWork: 100 * mib, toBeCalm: 1024 * mib };

export const checkStorage = async ({ dataDir }: Config): Promise<readonly Finding[]> => {
  const folder = nearest(resolve(dataDir));
  try {
    await tryToWrite(join(folder, `.doctor-${randomBytes(6).toString('hex')}`));
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    const { seen, advice } = dataFolderProblem(dataDir, code);
    return [failed(seen, advice)];
  }
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const seen = `${dataDir} can be written, and has ${String(Math.floor(free / mib))} MiB free.`;
  const advice = 'Free some space on its disk, or set DATA_DIR to another one.';
  if (free < least.toWork) return [failed(seen, advice)];
  return [free < least.toBeCalm ? warning(seen, advice) : ok(seen)];
};

const tryToWrite = async (path: string): Promise<void> => {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile('doctor');
    await file.sync();
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
};

const nearest = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));

type StoreConfig = Pick<Config, 'dataDir' | 'deploysUrl' | 's3Endpoint'>;

export const checkObjectStore = async (config: StoreConfig): Promise<readonly Finding[]> => {
  const place = objectStoreIn(config);
  if (!place) return [];
  const { S3Store } = await onDemand.objectStore();
  const store = new S3Store(place);
  const where = config.deploysUrl ?? '';
  try {
    const step = await firstRefused(store);
    if (!step) return [ok(`${where} can be written, read, listed and cleaned.`)];
    return [failed(`${where} cannot be ${step.done}: ${step.failure.message}.`, adviceOn(step))];
  } finally {
    store.close();
  }
};

interface Refused {
  readonly done: string;
  readonly permission: string;
  readonly failure: S3Failure;
}

const firstRefused = async (store: S3Store): Promise<Refused | undefined> => {
  const folder = `doctor-${randomBytes(6).toString('hex')}/`;
  const name = `${folder}trial`;
  const listUploads = 's3:ListBucketMultipartUploads';
  const steps = [
    ['written', 's3:PutObject', () => store.write(name, Buffer.from('doctor'))],
    ['read', 's3:GetObject', () => store.read(name)],
    ['listed', 's3:ListBucket', () => store.names(folder)],
    ['cleaned', 's3:DeleteObject', () => store.remove(name)],
    ['searched for unfinished uploads', listUploads, () => store.abandonUploads(folder)],
    ['cleaned of unfinished uploads', 's3:AbortMultipartUpload', () => store.tryUpload(name)],
  ] as const;
  for (const [done, permission, step] of steps) {
    try {
      await step();
    } catch (error) {
      await store.remove(name).catch(() => undefined);
      return { done, permission, failure: S3Failure.of(error) };
    }
  }
  return undefined;
};

const adviceOn = ({ permission, failure: { code, status } }: Refused): string => {
  switch (code) {
    case 'NoSuchBucket':
      return 'Create the bucket, or correct DEPLOYS_URL.';
    case 'AccessDenied':
      return `Allow these credentials ${permission} there.`;
    case 'CredentialsProviderError':
      return 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role.';
    case 'InvalidAccessKeyId':
    case 'SignatureDoesNotMatch':
    case 'ExpiredToken':
      return 'Correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; a temporary session also needs AWS_SESSION_TOKEN.';
    case 'PermanentRedirect':
    case 'AuthorizationHeaderMalformed':
      return 'Set AWS_REGION to the region of the bucket.';
    default:
      return status === undefined
        ? 'Check that it runs, and S3_ENDPOINT and AWS_REGION.'
        : 'Look the code up in the documentation of your object store.';
  }
};
