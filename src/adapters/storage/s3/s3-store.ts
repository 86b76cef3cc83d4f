import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import PQueue from 'p-queue';
import type { Tracer } from '../../../kernel/tracer.ts';
import {
  asking,
  attempts,
  inTime,
  partBytes,
  Reachability,
  reading,
  S3Failure,
  sendingMs,
  writing,
  type S3Place,
} from './s3-calls.ts';

const mib = 1024 * 1024;

/** Limits of concurrent calls. Small objects mostly wait for the network; large ones use memory for `parts` each. */
const atOnce = { small: 32, large: 3, parts: 2, deleted: 32 };

/**
 * Accesses the objects below a prefix of a bucket. Each call has a deadline, and the SDK retries temporary failures. A
 * name never changes its content, so retries are safe. Every method throws S3Failure.
 */
export class S3Store {
  readonly #place: S3Place;
  readonly #client: S3Client;
  readonly #reachability = new Reachability();
  readonly #small = new PQueue({ concurrency: atOnce.small });
  readonly #large = new PQueue({ concurrency: atOnce.large });
  readonly #deleting = new PQueue({ concurrency: atOnce.deleted });

  constructor(place: S3Place, tracer?: Tracer) {
    this.#place = place;
    this.#client = clientOf(place);
    if (tracer) traceCalls(this.#client, tracer, place.bucket);
  }

  get isAway(): boolean {
    return this.#reachability.isAway;
  }

  /** @param range first and last byte, inclusive @returns undefined if the object does not exist */
  read(
    name: string,
    range?: { readonly first: number; readonly last: number },
  ): Promise<Buffer | undefined> {
    const part = range && `bytes=${String(range.first)}-${String(range.last)}`;
    const wanted = range && range.last - range.first + 1;
    const request = { ...this.#at(name), ...(part !== undefined && { Range: part }) };
    const read = () =>
      inTime(reading, async (options) => {
        // The SDK does not retry a body that breaks off.
        for (let isLast = false; ; isLast = true) {
          const answer = await this.#client
            .send(new GetObjectCommand(request), options)
            .catch(ignoreMissing);
          if (!answer?.Body) return undefined;
          const { ContentLength: bytes = 0 } = answer;
          if (wanted !== undefined && bytes !== wanted) throw otherLength(name, bytes);
          try {
            return Buffer.from(await answer.Body.transformToByteArray());
          } catch (error) {
            if (isLast || options.abortSignal.aborted) throw error;
          }
        }
      });
    return this.#reachability.during(read);
  }

  write(name: string, content: Uint8Array): Promise<void> {
    return inTime(writing(content.length), async (options) => {
      const command = new PutObjectCommand({ ...this.#at(name), Body: content });
      await this.#client.send(command, options);
    });
  }

  async writeFile(
    name: string,
    file: { readonly path: string; readonly bytes: number },
    signal: AbortSignal,
  ): Promise<void> {
    const queue = file.bytes > mib ? this.#large : this.#small;
    const write = async () =>
      file.bytes > partBytes
        ? this.#writeParts(name, file)
        : this.write(name, await readFile(file.path));
    await queue.add(write, { signal });
  }

  tryUpload(name: string): Promise<void> {
    return inTime(asking, async (options) => {
      const target = this.#at(name);
      const begin = new CreateMultipartUploadCommand(target);
      const { UploadId } = await this.#client.send(begin, options);
      await this.#client.send(new AbortMultipartUploadCommand({ ...target, UploadId }), options);
    });
  }

  remove(name: string): Promise<void> {
    return inTime(asking, async (options) => {
      const command = new DeleteObjectCommand(this.#at(name));
      await this.#client.send(command, options).catch(ignoreMissing);
    });
  }

  /** Removes objects one by one, because not every store supports batches. Fails if the store still lists some afterwards. */
  async removeAll(prefix: string): Promise<void> {
    await this.abandonUploads(prefix);
    let removed: ReadonlySet<string> = new Set();
    for (;;) {
      const names = await this.names(prefix);
      if (names.length === 0) return;
      if (names.every((name) => removed.has(name))) throw stillThere(prefix);
      removed = new Set(names);
      await this.#deleting.addAll(names.map((name) => () => this.remove(name)));
    }
  }

  /** Aborts uploads of a dead process. Stores that cannot list them need a lifecycle rule. */
  async abandonUploads(prefix: string): Promise<void> {
    const { bucket: Bucket, prefix: base } = this.#place;
    const found = await inTime(asking, (options) => {
      const command = new ListMultipartUploadsCommand({ Bucket, Prefix: base + prefix });
      return this.#client.send(command, options);
    }).catch(ignoreUnsupported);
    for (const { Key, UploadId } of found?.Uploads ?? []) {
      await inTime(asking, (options) => {
        const command = new AbortMultipartUploadCommand({ Bucket, Key, UploadId });
        return this.#client.send(command, options).catch(ignoreMissing);
      });
    }
  }

  /** Lists the first thousand names with this prefix, in a form that old stores support. */
  names(prefix: string): Promise<readonly string[]> {
    return inTime(asking, async (options) => {
      const { bucket: Bucket, prefix: base } = this.#place;
      const command = new ListObjectsCommand({ Bucket, Prefix: base + prefix });
      const { Contents = [] } = await this.#client.send(command, options);
      return Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key.slice(base.length)]));
    });
  }

  close(): void {
    this.#client.destroy();
  }

  async #writeParts(
    name: string,
    { path, bytes }: { readonly path: string; readonly bytes: number },
  ): Promise<void> {
    const client = this.#client;
    const params = { ...this.#at(name), Body: createReadStream(path) };
    const upload = new Upload({ client, params, partSize: partBytes, queueSize: atOnce.parts });
    try {
      await upload.done();
    } catch (error) {
      // An upload can be completed once. If the answer was lost, the store has the whole file.
      if ((await this.#size(name)) !== bytes) throw S3Failure.of(error);
    }
  }

  #size(name: string): Promise<number | undefined> {
    return inTime(asking, async (options) => {
      const command = new HeadObjectCommand(this.#at(name));
      const answer = await this.#client.send(command, options).catch(ignoreMissing);
      return answer?.ContentLength;
    });
  }

  #at(name: string): { readonly Bucket: string; readonly Key: string } {
    const { bucket, prefix } = this.#place;
    return { Bucket: bucket, Key: prefix + name };
  }
}

const connections = { timeoutMs: 2_000, most: 128 };
const nothing = () => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** The SDK finds credentials and region in the usual AWS places: environment, user files or machine role. */
const clientOf = ({ endpoint }: S3Place): S3Client => {
  const agent = { keepAlive: true, maxSockets: connections.most };
  return new S3Client({
    // Most other stores accept any region, but the SDK needs one. They rarely have a host for each bucket.
    ...(endpoint !== undefined && {
      endpoint,
      forcePathStyle: true,
      region: process.env['AWS_REGION'] ?? 'us-east-1',
    }),
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
      logger: silent,
    },
  });
};

const traceCalls = (client: S3Client, tracer: Tracer, bucket: string): void => {
  client.middlewareStack.add(
    (next, { commandName = '' }) => {
      const method = commandName.replace(/Command$/, '');
      const facts = {
        ...({ 'rpc.system': 'aws-api', 'rpc.service': 'S3' } as const),
        'rpc.method': method,
        'aws.s3.bucket': bucket,
      };
      return (args) =>
        tracer.step({ name: `S3 ${method}`, kind: 'client', facts }, () => next(args));
    },
    { step: 'initialize', name: 'traces' },
  );
};

const otherLength = (name: string, bytes: number): S3Failure =>
  new S3Failure('OtherLength', `${name} was answered with ${String(bytes)} bytes`, 200);

const stillThere = (prefix: string): S3Failure =>
  new S3Failure('StillThere', `what was removed below ${prefix} is still listed`, 200);

const ignoreMissing = (error: unknown): undefined => {
  const { code, status } = S3Failure.of(error);
  if (status !== 404 || !['NoSuchKey', 'NotFound', 'NoSuchUpload'].includes(code)) throw error;
};

const ignoreUnsupported = (error: unknown): undefined => {
  const { status } = S3Failure.of(error);
  if (status !== 501 && status !== 405) throw error;
};
