import type * as awsSdk from '@aws-sdk/client-s3';
import type { Tracer } from '../../../kernel/tracer.ts';

const connecting = { deadlineMs: 2_000, most: 128 };

/** A part of a bucket. */
export interface S3Place {
  readonly bucket: string;
  /** What all keys begin with: nothing, or a path that ends in a slash. */
  readonly prefix: string;
  /** Of a store that is not AWS. */
  readonly endpoint: string | undefined;
}

type Sdk = typeof awsSdk;

/** The SDK and a client of it. */
export interface OpenedS3 {
  readonly sdk: Sdk;
  readonly client: awsSdk.S3Client;
}

/** It takes over 100 ms: at the start of a process that serves, and otherwise when it is first needed. */
export const importSdk = (): Promise<Sdk> => import('@aws-sdk/client-s3');

const nothing = () => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/**
 * Credentials and the region come from wherever AWS programs find them: environment, files of the user, role of the
 * machine.
 */
export const openS3 = async ({ bucket, endpoint }: S3Place, tracer?: Tracer): Promise<OpenedS3> => {
  const sdk = await importSdk();
  const agent = { keepAlive: true, maxSockets: connecting.most };
  const client = new sdk.S3Client({
    // Most other stores take any region; the SDK wants one.
    ...(endpoint !== undefined && { region: process.env['AWS_REGION'] ?? 'us-east-1' }),
    // Other stores rarely have a host for each bucket.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    // `inAttempts` repeats.
    maxAttempts: 1,
    // Other stores do not know the newer checksums. What is sent is signed with its SHA-256 anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connecting.deadlineMs,
      httpAgent: agent,
      httpsAgent: agent,
      // It warns on standard error when many requests wait for a connection.
      logger: silent,
    },
  });
  if (tracer) traceCalls(client, tracer, bucket);
  return { sdk, client };
};

/** Each call is a step until its answer begins. Of what it is about only the bucket. */
const traceCalls = (client: awsSdk.S3Client, tracer: Tracer, bucket: string): void => {
  client.middlewareStack.add(
    (next, { commandName = '' }) => {
      const method = commandName.replace(/Command$/, '');
      const facts = {
        ...({ 'rpc.system': 'aws-api', 'rpc.service': 'S3' } as const),
        ...{ 'rpc.method': method, 'aws.s3.bucket': bucket },
      };
      return (args) =>
        tracer.step({ name: `S3 ${method}`, kind: 'client', facts }, () => next(args));
    },
    { step: 'initialize', name: 'traces' },
  );
};
