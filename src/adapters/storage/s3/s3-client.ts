import type * as awsSdk from '@aws-sdk/client-s3';
import type { Upload } from '@aws-sdk/lib-storage';
import pTimeout from 'p-timeout';
import type { Tracer } from '../../../kernel/tracer.ts';

const connections = { timeoutMs: 2_000, most: 128 };
/** By the SDK, where the failure may pass. */
const attempts = 4;
/** The least that stores take, except for the last part. */
export const partBytes = 5 * 1024 * 1024;
/** For one attempt to send so many bytes: long enough at 100 KB a second. */
const sendingMs = (bytes: number): number => 10_000 + bytes / 100;

export interface S3Place {
  readonly bucket: string;
  /** What all keys begin with: nothing, or a path that ends in a slash. */
  readonly prefix: string;
  readonly endpoint: string | undefined;
}

export interface OpenedS3 {
  readonly sdk: typeof awsSdk;
  readonly Upload: typeof Upload;
  readonly client: awsSdk.S3Client;
}

/** It takes over 100 ms: at the start of a process that serves, and otherwise when it is first needed. */
export const importSdk = async (): Promise<Pick<OpenedS3, 'sdk' | 'Upload'>> => {
  const [sdk, storage] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/lib-storage'),
  ]);
  return { sdk, Upload: storage.Upload };
};

const nothing = () => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/**
 * Credentials and the region come from wherever AWS programs find them: environment, files of the user, role of the
 * machine.
 */
export const openS3 = async ({ bucket, endpoint }: S3Place, tracer?: Tracer): Promise<OpenedS3> => {
  const imported = await importSdk();
  const agent = { keepAlive: true, maxSockets: connections.most };
  const client = new imported.sdk.S3Client({
    // Most other stores take any region; the SDK wants one.
    ...(endpoint !== undefined && { region: process.env['AWS_REGION'] ?? 'us-east-1' }),
    // Other stores rarely have a host for each bucket.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    maxAttempts: attempts,
    // Other stores do not know the newer checksums. What is sent is signed with its SHA-256 anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connections.timeoutMs,
      requestTimeout: sendingMs(partBytes),
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
      // It warns on standard error when many requests wait for a connection.
      logger: silent,
    },
  });
  if (tracer) traceCalls(client, tracer, bucket);
  return { ...imported, client };
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

interface SdkError {
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Answers that another attempt may not get again. */
const passing: readonly string[] = ['RequestTimeout', 'RequestTimeTooSkewed', 'SlowDown'];
/** Without an answer of the store, but they stay. */
const lasting: readonly string[] = ['CredentialsProviderError', 'InvalidArnException'];

/**
 * What went wrong at the object store. A new error, because those of the SDK carry what was signed, a session token
 * among it, and logs show all fields of an error.
 */
export class S3Failure extends Error {
  override readonly name = 'S3Failure';
  /** As the store names it, like `AccessDenied`, or as the system does, like `ECONNREFUSED`. */
  readonly code: string;
  readonly status: number | undefined;

  constructor(code: string, message: string, status?: number) {
    super(`${code}: ${message}`);
    this.code = code;
    this.status = status;
  }

  static of(error: unknown): S3Failure {
    if (error instanceof S3Failure) return error;
    const { name = 'Error', code, message = '', $metadata } = error as SdkError;
    const status = $metadata?.httpStatusCode;
    return new S3Failure(status === undefined ? (code ?? name) : name, message, status);
  }

  /** Whether the store may answer a moment later. */
  get isPassing(): boolean {
    if (passing.includes(this.code)) return true;
    if (this.status === undefined) return !lasting.includes(this.code);
    return this.status >= 500 || this.status === 429 || this.status === 408;
  }
}

/** For one attempt, and for all of them with what is read. */
export interface CallTimeouts {
  readonly attemptMs: number;
  readonly allMs: number;
}

export const reading: CallTimeouts = { attemptMs: 3_000, allMs: 6_000 };
export const asking: CallTimeouts = { attemptMs: 15_000, allMs: attempts * 15_000 };
export const writing = (bytes: number): CallTimeouts => ({
  attemptMs: sendingMs(bytes),
  allMs: attempts * sendingMs(bytes),
});

type CallOptions = Readonly<{ abortSignal: AbortSignal; requestTimeout: number }>;

/** Ends what takes too long, also the search for credentials. @throws S3Failure */
export const inTime = async <T>(
  { attemptMs, allMs }: CallTimeouts,
  call: (options: CallOptions) => Promise<T>,
): Promise<T> => {
  const end = new AbortController();
  const late = new S3Failure('Timeout', `no answer within ${String(allMs)} ms`);
  try {
    const answer = call({ abortSignal: end.signal, requestTimeout: attemptMs });
    return await pTimeout(answer, { milliseconds: allMs, message: late });
  } catch (error) {
    throw S3Failure.of(error);
  } finally {
    // Also ends an answer that nobody reads to its end.
    end.abort();
  }
};

const away = { failures: 3, restMs: 1_000 };

/**
 * Remembers that the store does not answer. Then only one request a second goes there, and the others fail at once:
 * visitors whose files are here do not wait behind those whose files are not.
 */
export class Reachability {
  #failures = 0;
  #isTrying = false;
  #restsUntil = -Infinity;

  get isAway(): boolean {
    return this.#failures >= away.failures;
  }

  /** @throws S3Failure at once while the store is away; whatever `work` throws */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const { isAway } = this;
    if (isAway && (this.#isTrying || performance.now() < this.#restsUntil)) {
      throw new S3Failure('Away', 'it did not answer a moment ago', 0);
    }
    if (isAway) this.#isTrying = true;
    try {
      const result = await work();
      this.#failures = 0;
      return result;
    } catch (error) {
      this.#failures = S3Failure.of(error).isPassing ? this.#failures + 1 : 0;
      this.#restsUntil = performance.now() + away.restMs;
      throw error;
    } finally {
      if (isAway) this.#isTrying = false;
    }
  }
}
