import { join } from 'node:path';
import type { S3Place } from '../../adapters/storage/s3/s3-client.ts';
import type { Config } from './config.ts';

type Where = Pick<Config, 'dataDir' | 'deploysUrl' | 's3Endpoint' | 's3Region'>;

/** Undefined: deploys are in a folder. */
export const objectStoreIn = (config: Where): S3Place | undefined => {
  const { deploysUrl, s3Endpoint: endpoint, s3Region } = config;
  if (deploysUrl === undefined) return undefined;
  const { hostname: bucket, pathname } = new URL(deploysUrl);
  const path = pathname.split('/').filter((part) => part !== '');
  // Most other stores take any region; the SDK wants one.
  const region = s3Region ?? (endpoint === undefined ? undefined : 'us-east-1');
  return { bucket, prefix: path.map((part) => `${part}/`).join(''), endpoint, region };
};

/** The folder that deploys are unpacked into; with an object store they leave it at once. */
export const deploysFolder = ({ dataDir, deploysUrl }: Where): string =>
  join(dataDir, deploysUrl === undefined ? 'deploys' : 'deploys-staging');

export const deploysCacheFolder = ({ dataDir }: Where): string => join(dataDir, 'deploys-cache');
