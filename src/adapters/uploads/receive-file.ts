import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { addAbortSignal, finished, type Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { DomainError } from '../../kernel/decision.ts';
import { siteLimits } from '../../sites/domain/site-contents.ts';
import { uploadRefused } from '../../sites/domain/sites-error.ts';

export const largestUpload = siteLimits.bytes;

const roomAround = 64 * 1024;
/** An empty part costs the parser as much time as a large one, so a form may have only a few. */
const [mostParts, largestPartHead] = [16, 8 * 1024];
/** A refused sender may continue for a while, because closing the connection at once would lose the answer. */
const linger = { ms: 10_000, bytes: largestUpload };

export interface FormFile {
  /** The name of the file's field. */
  readonly field: string;
  /** The limit in bytes. */
  readonly largest: number;
  /** The message if no file was chosen. */
  readonly missing: string;
}

/**
 * Streams the form's file to `take`. Ends at the latest at the deadline of `pace`.
 * @returns the other fields
 * @throws DomainError with an `UploadRefusal`; whatever `take` throws
 */
export const receiveForm = (
  request: IncomingMessage,
  { take, ...wanted }: FormFile & { readonly take: (content: Readable) => Promise<unknown> },
  pace = uploadPace,
): Promise<ReadonlyMap<string, string>> => {
  const terms = { largest: wanted.largest, room: roomAround, pace };
  return receive(request, terms, async (meter, over) => {
    const parser = parserFor(request, wanted.largest);
    const fields = new Map<string, string>();
    parser.on('field', (name, value) => fields.set(name, value));
    // The parser must stop at once; otherwise it would continue with the bytes it has.
    parser.once('partsLimit', () => {
      over.abort(tooManyParts());
    });
    const taken = fileIn(parser, wanted, (content) => take(addAbortSignal(over.signal, content)));
    const arrived = arrive(request, meter, parser, over.signal);
    const [hasFile] = await Promise.all([taken, arrived]);
    if (!hasFile) throw uploadRefused('upload_missing', wanted.missing);
    return fields;
  });
};

/** Receives a body that is the archive itself. @returns its SHA-256 @throws DomainError with an `UploadRefusal` */
export const receiveBody = (
  request: IncomingMessage,
  file: FileHandle,
  pace = uploadPace,
): Promise<string> =>
  receive(request, { largest: largestUpload, room: 0, pace }, async (meter, over) => {
    const hash = createHash('sha256');
    let left = largestUpload;
    const writer = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        left -= chunk.length;
        hash.update(chunk);
        if (left < 0) done(tooLarge(largestUpload));
        else
          file.writeFile(chunk).then(() => {
            done();
          }, done);
      },
    });
    await arrive(request, meter, writer, over.signal);
    return hash.digest('hex');
  });

interface Terms {
  readonly largest: number;
  readonly room: number;
  readonly pace: UploadPace;
}

const receive = async <T>(
  request: IncomingMessage,
  { largest, room, pace }: Terms,
  read: (meter: Transform, over: AbortController) => Promise<T>,
): Promise<T> => {
  if (Number(request.headers['content-length']) > largest + room) throw tooLarge(largest);
  const over = new AbortController();
  const { meter, stop } = keepingPace(over, pace);
  try {
    return await Promise.race([read(meter, over), endOf(over.signal)]);
  } catch (error) {
    throw problemWith(error, over.signal);
  } finally {
    stop();
    // Without this, the writer would wait for more, and the file could not be closed.
    over.abort();
  }
};

/** The request is not part of the pipeline, which would destroy it after a refusal, and the answer with it. */
const arrive = async (
  request: IncomingMessage,
  meter: Transform,
  sink: NodeJS.WritableStream,
  signal: AbortSignal,
): Promise<void> => {
  // If the sender closes its side, unread bytes are lost, even if the request is complete.
  const forget = finished(request, { writable: false }, (error) => {
    if (error) meter.destroy(error);
  });
  request.pipe(meter);
  try {
    await pipeline(meter, sink, { signal });
  } finally {
    forget();
    request.unpipe(meter);
  }
};

const endOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });

/** A broken upload means that the sender disconnected, unless the error is from the disk or a limit. */
const problemWith = (error: unknown, { reason }: AbortSignal): unknown => {
  if (reason instanceof DomainError) return reason;
  if (error instanceof DomainError || (error as NodeJS.ErrnoException).syscall) return error;
  return uploadRefused(
    'upload_cut_off',
    'The upload was interrupted before it was complete. Send it again.',
  );
};

export const discardRest = (request: IncomingMessage): void => {
  request.resume();
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), linger.ms);
  request.once('close', () => {
    clearTimeout(timer);
  });
  let left = linger.bytes;
  request.on('data', ({ length }: Buffer) => {
    left -= length;
    if (left < 0) request.destroy();
  });
};

const parserFor = ({ headers }: IncomingMessage, fileSize: number): BusboyInstance => {
  const limits = {
    files: 1,
    fileSize,
    fields: 8,
    fieldSize: 1024,
    parts: mostParts,
    headerPairs: 32,
    headerSize: largestPartHead,
  };
  const { 'content-type': type = '' } = headers;
  try {
    if (!type.startsWith('multipart/form-data')) throw new Error('another kind of form');
    return new Busboy({ headers: { ...headers, 'content-type': type }, limits });
  } catch {
    throw uploadRefused('upload_no_form', 'This form has to be sent by a browser.');
  }
};

/** @returns whether a file was chosen */
const fileIn = (
  parser: BusboyInstance,
  { field, largest }: FormFile,
  take: (content: Readable) => Promise<unknown>,
): Promise<boolean> =>
  new Promise((resolve, reject) => {
    let taken = Promise.resolve(false);
    parser.on('file', (name, content, fileName) => {
      // It fails together with the parser, which reports the error.
      content.on('error', () => undefined);
      if (name !== field || fileName === '') {
        content.resume();
        return;
      }
      content.once('limit', () => {
        reject(tooLarge(largest));
      });
      taken = take(content).then(() => true);
      taken.catch(reject);
    });
    parser.on('error', reject);
    parser.once('finish', () => {
      resolve(taken);
    });
  });

const tooLarge = (largest: number) => {
  const most = `${largest / 1024 / 1024} MiB`;
  const message = `This file is larger than the maximum of ${most}.`;
  return uploadRefused('upload_too_large', message);
};

const tooManyParts = () =>
  uploadRefused(
    'upload_ambiguous',
    'The form has more than one file. Choose one, then send it again.',
  );

const kib = 1024;

export interface UploadPace {
  readonly longestMs: number;
  /** The average over each such period must not be below `slowest`. */
  readonly windowMs: number;
  readonly slowest: number;
}

/** The largest archive takes half an hour at 114 KiB/s; a site of 28 MiB arrives at the slowest rate. */
export const uploadPace: UploadPace = {
  longestMs: 30 * 60_000,
  windowMs: 30_000,
  slowest: 16 * kib,
};

/** Files are passed on in small pieces, so that other requests get their turn. */
const pieceBytes = 16 * kib;

/** Ends `over` with a refusal when the stream is too slow or takes too long. @returns the stream to insert into the pipeline */
const keepingPace = (
  over: AbortController,
  { longestMs, windowMs, slowest }: UploadPace,
): { readonly meter: Transform; readonly stop: () => void } => {
  let received = 0;
  const meter = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      received += chunk.length;
      for (let at = 0; at < chunk.length; at += pieceBytes) {
        meter.push(chunk.subarray(at, at + pieceBytes));
      }
      done();
    },
  });
  const deadline = setTimeout(() => {
    over.abort(tooLong(longestMs));
  }, longestMs);
  let before = 0;
  const windows = setInterval(() => {
    if (received - before < (slowest * windowMs) / 1000) over.abort(tooSlow(slowest));
    before = received;
  }, windowMs);
  return {
    meter,
    stop: () => {
      clearTimeout(deadline);
      clearInterval(windows);
    },
  };
};

const tooSlow = (slowest: number) =>
  uploadRefused(
    'upload_too_slow',
    `The upload was too slow: at least ${String(slowest / kib)} KiB per second must arrive. Try again over a faster connection.`,
  );

const tooLong = (longestMs: number) =>
  uploadRefused(
    'upload_too_slow',
    `The upload took longer than ${String(longestMs / 60_000)} minutes. Upload less, or over a faster connection.`,
  );
