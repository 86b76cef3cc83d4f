import type * as awsSdk from '@aws-sdk/client-s3';
import type { Upload } from '@aws-sdk/lib-storage';
import pTimeout from 'p-timeout';
import type { Tracer } from '../../../kernel/tracer.ts';

const connections = { timeoutMs: 2_000, most: 128 };
/** The SDK's attempts for temporary failures. */
const attempts = 4;
/** The smallest part that stores accept, except for the last one. */
export const partBytes = 5 * 1024 * 1024;
/** Time for one attempt: enough at 100 KB per second. */
const sendingMs = (bytes: number): number => 10_000 + bytes / 100;

export interface S3Place {
  readonly bucket: string;
  /** The prefix of all keys: empty, or a path with a final slash. */
  readonly prefix: string;
  readonly endpoint: string | undefined;
}

export interface OpenedS3 {
  readonly sdk: typeof awsSdk;
  readonly Upload: typeof Upload;
  readonly client: awsSdk.S3Client;
}

/** Takes over 100 ms, so only a server loads it at startup. */
export const importSdk = async (): Promise<Pick<OpenedS3, 'sdk' | 'Upload'>> => {
  const [sdk, storage] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/lib-storage'),
  ]);
  return { sdk, Upload: storage.Upload };
};

const nothing = () => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Credentials and region come from the usual AWS places: environment, user files or machine role. */
export const openS3 = async ({ bucket, endpoint }: S3Place, tracer?: Tracer): Promise<OpenedS3> => {
  const imported = await importSdk();
  const agent = { keepAlive: true, maxSockets: connections.most };
  const client = new imported.sdk.S3Client({
    // Most other stores accept any region, but the SDK needs one.
    ...(endpoint !== undefined && { region: process.env['AWS_REGION'] ?? 'us-east-1' }),
    // Other stores rarely have a host for each bucket.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    maxAttempts: attempts,
    // Other stores do not support the newer checksums. The signature includes a SHA-256 anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connections.timeoutMs,
      requestTimeout: sendingMs(partBytes),
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
      // The SDK would print a warning when many requests wait for a connection.
      logger: silent,
    },
  });
  if (tracer) traceCalls(client, tracer, bucket);
  return { ...imported, client };
};

/** A span covers a call until its answer begins, and names only the bucket. */
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

const passing: readonly string[] = ['RequestTimeout', 'RequestTimeTooSkewed', 'SlowDown'];
const lasting: readonly string[] = ['CredentialsProviderError', 'InvalidArnException'];

/** A new error, because the SDK's errors contain session tokens, and logs show all fields. */
export class S3Failure extends Error {
  override readonly name = 'S3Failure';
  /** The store's code, such as `AccessDenied`, or the system's, such as `ECONNREFUSED`. */
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

  get isPassing(): boolean {
    if (passing.includes(this.code)) return true;
    if (this.status === undefined) return !lasting.includes(this.code);
    return this.status >= 500 || this.status === 429 || this.status === 408;
  }
}

/** For one attempt, and for all attempts including reading the body. */
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

/** Aborts a call that takes too long, including the search for credentials. @throws S3Failure */
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
    // Also closes an answer that was not read completely.
    end.abort();
  }
};

const away = { failures: 3, restMs: 1_000 };

/** While the store does not answer, sends one request a second and fails others at once. */
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
