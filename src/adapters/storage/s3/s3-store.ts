import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import PQueue from 'p-queue';
import type { Tracer } from '../../../kernel/tracer.ts';
import {
  asking,
  inTime,
  openS3,
  partBytes,
  Reachability,
  reading,
  S3Failure,
  writing,
  type OpenedS3,
  type S3Place,
} from './s3-client.ts';

const mib = 1024 * 1024;

/** Small objects wait for the network. Large ones fill memory: each has as many parts on their way as `parts` says. */
const atOnce = { small: 32, large: 3, parts: 2, deleted: 32 };

/**
 * Objects in a part of a bucket, by names without its prefix. Each call has a deadline, and the SDK repeats it after
 * failures that may pass: a name never gets another content, so repeating has the same result.
 * Every method throws S3Failure.
 */
export class S3Store {
  readonly #place: S3Place;
  readonly #tracer: Tracer | undefined;
  readonly #reachability = new Reachability();
  readonly #small = new PQueue({ concurrency: atOnce.small });
  readonly #large = new PQueue({ concurrency: atOnce.large });
  readonly #deleting = new PQueue({ concurrency: atOnce.deleted });
  #opened: Promise<OpenedS3> | undefined;

  constructor(place: S3Place, tracer?: Tracer) {
    this.#place = place;
    this.#tracer = tracer;
  }

  /** Whether the last reads got no answer. */
  get isAway(): boolean {
    return this.#reachability.isAway;
  }

  /**
   * @param range first and last byte, both included; the answer must have exactly these
   * @returns undefined when there is no such object
   */
  read(
    name: string,
    range?: { readonly first: number; readonly last: number },
  ): Promise<Buffer | undefined> {
    const part = range && `bytes=${String(range.first)}-${String(range.last)}`;
    const wanted = range && range.last - range.first + 1;
    const request = { ...this.#at(name), ...(part !== undefined && { Range: part }) };
    const read = () =>
      inTime(reading, async (options) => {
        const { sdk, client } = await this.#open();
        // The SDK does not repeat what is cut off while it is read.
        for (let isLast = false; ; isLast = true) {
          const answer = await client
            .send(new sdk.GetObjectCommand(request), options)
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
      const { sdk, client } = await this.#open();
      const command = new sdk.PutObjectCommand({ ...this.#at(name), Body: content });
      await client.send(command, options);
    });
  }

  /**
   * Stores a file that does not change, in its turn.
   * @param signal while it waits for its turn
   * @throws also what the file system says
   */
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

  /** Begins an upload of a large file and gives it up. */
  tryUpload(name: string): Promise<void> {
    return inTime(asking, async (options) => {
      const { sdk, client } = await this.#open();
      const target = this.#at(name);
      const begin = new sdk.CreateMultipartUploadCommand(target);
      const { UploadId } = await client.send(begin, options);
      await client.send(new sdk.AbortMultipartUploadCommand({ ...target, UploadId }), options);
    });
  }

  /** Removing what is not there is no error. */
  remove(name: string): Promise<void> {
    return inTime(asking, async (options) => {
      const { sdk, client } = await this.#open();
      const command = new sdk.DeleteObjectCommand(this.#at(name));
      await client.send(command, options).catch(ignoreMissing);
    });
  }

  /**
   * One by one, since not every store can do it at once; also what somebody else adds meanwhile. A store that still lists
   * what it has removed may do so for long: then it fails, to be repeated later.
   */
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

  /** Large files of a process that died. A store that cannot list them removes them by a rule of the bucket. */
  async abandonUploads(prefix: string): Promise<void> {
    const { bucket: Bucket, prefix: base } = this.#place;
    const { sdk, client } = await this.#open();
    const found = await inTime(asking, (options) => {
      const command = new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: base + prefix });
      return client.send(command, options);
    }).catch(ignoreUnsupported);
    for (const { Key, UploadId } of found?.Uploads ?? []) {
      await inTime(asking, (options) => {
        const command = new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId });
        return client.send(command, options).catch(ignoreMissing);
      });
    }
  }

  /** The first thousand names that begin like this, as even old stores list them. */
  names(prefix: string): Promise<readonly string[]> {
    return inTime(asking, async (options) => {
      const { sdk, client } = await this.#open();
      const { bucket: Bucket, prefix: base } = this.#place;
      const command = new sdk.ListObjectsCommand({ Bucket, Prefix: base + prefix });
      const { Contents = [] } = await client.send(command, options);
      return Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key.slice(base.length)]));
    });
  }

  close(): void {
    void this.#opened?.then(({ client }) => {
      client.destroy();
    });
  }

  /** The file is there only when all its parts are; after a failure none is left. */
  async #writeParts(
    name: string,
    { path, bytes }: { readonly path: string; readonly bytes: number },
  ): Promise<void> {
    const { client, Upload } = await this.#open();
    const params = { ...this.#at(name), Body: createReadStream(path) };
    const upload = new Upload({ client, params, partSize: partBytes, queueSize: atOnce.parts });
    try {
      await upload.done();
    } catch (error) {
      // An upload can be completed only once: where the answer was lost, the store has the whole file.
      if ((await this.#size(name)) !== bytes) throw S3Failure.of(error);
    }
  }

  #size(name: string): Promise<number | undefined> {
    return inTime(asking, async (options) => {
      const { sdk, client } = await this.#open();
      const command = new sdk.HeadObjectCommand(this.#at(name));
      const answer = await client.send(command, options).catch(ignoreMissing);
      return answer?.ContentLength;
    });
  }

  #at(name: string): { readonly Bucket: string; readonly Key: string } {
    const { bucket, prefix } = this.#place;
    return { Bucket: bucket, Key: prefix + name };
  }

  #open(): Promise<OpenedS3> {
    return (this.#opened ??= openS3(this.#place, this.#tracer));
  }
}

const otherLength = (name: string, bytes: number): S3Failure =>
  new S3Failure('OtherLength', `${name} was answered with ${String(bytes)} bytes`, 200);

const stillThere = (prefix: string): S3Failure =>
  new S3Failure('StillThere', `what was removed below ${prefix} is still listed`, 200);

/** Of an object or an upload. That there is no bucket is a failure. */
const ignoreMissing = (error: unknown): undefined => {
  const { code, status } = S3Failure.of(error);
  if (status !== 404 || !['NoSuchKey', 'NotFound', 'NoSuchUpload'].includes(code)) throw error;
};

const ignoreUnsupported = (error: unknown): undefined => {
  const { status } = S3Failure.of(error);
  if (status !== 501 && status !== 405) throw error;
};
