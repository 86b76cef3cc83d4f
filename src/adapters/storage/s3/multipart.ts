import { open, type FileHandle } from 'node:fs/promises';
import type { CompletedPart } from '@aws-sdk/client-s3';
import type PQueue from 'p-queue';
import { asking, inAttempts, writing } from './attempts.ts';
import type { OpenedS3 } from './s3-client.ts';

/** The least that stores want: each part on its way takes as much memory, and is hashed at one go. */
export const partBytes = 5 * 1024 * 1024;

interface LargeFile {
  readonly path: string;
  readonly bytes: number;
  readonly target: { readonly Bucket: string; readonly Key: string };
  /** What the store has of it, if anything. */
  readonly storedBytes: () => Promise<number | undefined>;
  /** Each part takes a turn. */
  readonly turns: PQueue;
  readonly signal: AbortSignal;
}

interface Upload {
  readonly Bucket: string;
  readonly Key: string;
  readonly UploadId: string | undefined;
}

/**
 * Uploads a file that does not change, in parts. It is there only when all of them are; after a failure none is left.
 * @throws S3Failure, what the file system says, or the reason of the signal
 */
export const uploadInParts = async (opened: OpenedS3, file: LargeFile): Promise<void> => {
  const upload = await begin(opened, file.target);
  try {
    await complete(opened, file, { ...upload, parts: await sendParts(opened, file, upload) });
  } catch (error) {
    await giveUp(opened, upload).catch(() => undefined);
    throw error;
  }
};

/** Begins an upload and gives it up, to see whether the credentials allow that. @throws S3Failure */
export const tryUpload = async (opened: OpenedS3, target: LargeFile['target']): Promise<void> => {
  await giveUp(opened, await begin(opened, target));
};

const begin = async ({ sdk, client }: OpenedS3, target: LargeFile['target']): Promise<Upload> => {
  const { UploadId } = await inAttempts(asking, (abortSignal) =>
    client.send(new sdk.CreateMultipartUploadCommand(target), { abortSignal }),
  );
  return { ...target, UploadId };
};

const giveUp = async ({ sdk, client }: OpenedS3, upload: Upload): Promise<void> => {
  await inAttempts(asking, (abortSignal) =>
    client.send(new sdk.AbortMultipartUploadCommand(upload), { abortSignal }),
  );
};

const sendParts = async (
  opened: OpenedS3,
  { path, bytes, turns, signal }: LargeFile,
  upload: Upload,
): Promise<readonly CompletedPart[]> => {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const handle = await open(path);
  const numbers = Array.from({ length: Math.ceil(bytes / partBytes) }, (_, at) => at + 1);
  const sent = numbers.map((number) =>
    turns
      .add(async () => sendPart(opened, upload, { number, content: await read(handle, number) }), {
        signal: either,
      })
      .catch((error: unknown) => {
        failed.abort(error);
        throw error;
      }),
  );
  // All of them, so that none is on its way when the upload is given up.
  await Promise.allSettled(sent);
  await handle.close();
  return Promise.all(sent);
};

const read = async (handle: FileHandle, number: number): Promise<Uint8Array> => {
  const content = Buffer.allocUnsafe(partBytes);
  const { bytesRead } = await handle.read(content, 0, partBytes, (number - 1) * partBytes);
  return content.subarray(0, bytesRead);
};

const sendPart = async (
  { sdk, client }: OpenedS3,
  upload: Upload,
  { number, content }: { readonly number: number; readonly content: Uint8Array },
): Promise<CompletedPart> => {
  const part = { ...upload, PartNumber: number, Body: content };
  const { ETag } = await inAttempts(writing(content.length), (abortSignal) =>
    client.send(new sdk.UploadPartCommand(part), { abortSignal }),
  );
  return { PartNumber: number, ...(ETag !== undefined && { ETag }) };
};

/** An upload can be completed only once: where the answer was lost, the store has the whole file. */
const complete = (
  { sdk, client }: OpenedS3,
  { bytes, storedBytes }: LargeFile,
  { parts, ...upload }: Upload & { readonly parts: readonly CompletedPart[] },
): Promise<void> =>
  inAttempts(asking, async (abortSignal) => {
    const whole = { ...upload, MultipartUpload: { Parts: [...parts] } };
    try {
      await client.send(new sdk.CompleteMultipartUploadCommand(whole), { abortSignal });
    } catch (error) {
      if ((await storedBytes()) !== bytes) throw error;
    }
  });
