import { readFile } from 'node:fs/promises';
import PQueue from 'p-queue';
import type { Tracer } from '../../../kernel/tracer.ts';
import { asking, inAttempts, Reachability, reading, S3Failure, writing } from './attempts.ts';
import { partBytes, tryUpload, uploadInParts } from './multipart.ts';
import { openS3, type OpenedS3, type S3Place } from './s3-client.ts';

const mib = 1024 * 1024;

/** Small objects wait for the network, large ones fill memory. */
const atOnce = { small: 32, large: 4, deleted: 32 };

/**
 * Objects in a part of a bucket, by names without its prefix. Each call has a deadline and is repeated after failures
 * that pass, because each has the same result when it is done twice: a name never gets another content.
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
    return this.#reachability.during(() =>
      inAttempts(reading, async (abortSignal) => {
        const { sdk, client } = await this.#open();
        const request = { ...this.#at(name), ...(part !== undefined && { Range: part }) };
        const answer = await client
          .send(new sdk.GetObjectCommand(request), { abortSignal })
          .catch(ignoreMissing);
        if (!answer?.Body) return undefined;
        const { ContentLength: bytes = 0 } = answer;
        if (wanted !== undefined && bytes !== wanted) throw otherLength(name, bytes);
        return Buffer.from(await answer.Body.transformToByteArray());
      }),
    );
  }

  write(name: string, content: Uint8Array): Promise<void> {
    return inAttempts(writing(content.length), async (abortSignal) => {
      const { sdk, client } = await this.#open();
      const command = new sdk.PutObjectCommand({ ...this.#at(name), Body: content });
      await client.send(command, { abortSignal });
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
    const { path, bytes } = file;
    if (bytes > partBytes) {
      const [target, turns] = [this.#at(name), this.#large];
      const storedBytes = () => this.#size(name);
      await uploadInParts(await this.#open(), { ...file, target, storedBytes, turns, signal });
      return;
    }
    const queue = bytes > mib ? this.#large : this.#small;
    await queue.add(async () => this.write(name, await readFile(path)), { signal });
  }

  /** Begins an upload of a large file and gives it up. */
  async tryUpload(name: string): Promise<void> {
    await tryUpload(await this.#open(), this.#at(name));
  }

  /** Removing what is not there is no error. */
  remove(name: string): Promise<void> {
    return inAttempts(asking, async (abortSignal) => {
      const { sdk, client } = await this.#open();
      const command = new sdk.DeleteObjectCommand(this.#at(name));
      await client.send(command, { abortSignal }).catch(ignoreMissing);
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
    const found = await inAttempts(asking, (abortSignal) => {
      const command = new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: base + prefix });
      return client.send(command, { abortSignal });
    }).catch(ignoreUnsupported);
    for (const { Key, UploadId } of found?.Uploads ?? []) {
      await inAttempts(asking, (abortSignal) =>
        client
          .send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }), { abortSignal })
          .catch(ignoreMissing),
      );
    }
  }

  /** The first thousand names that begin like this, as even old stores list them. */
  names(prefix: string): Promise<readonly string[]> {
    return inAttempts(asking, async (abortSignal) => {
      const { sdk, client } = await this.#open();
      const { bucket: Bucket, prefix: base } = this.#place;
      const command = new sdk.ListObjectsCommand({ Bucket, Prefix: base + prefix });
      const { Contents = [] } = await client.send(command, { abortSignal });
      return Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key.slice(base.length)]));
    });
  }

  close(): void {
    void this.#opened?.then(({ client }) => {
      client.destroy();
    });
  }

  #size(name: string): Promise<number | undefined> {
    return inAttempts(asking, async (abortSignal) => {
      const { sdk, client } = await this.#open();
      const command = new sdk.HeadObjectCommand(this.#at(name));
      const answer = await client.send(command, { abortSignal }).catch(ignoreMissing);
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
