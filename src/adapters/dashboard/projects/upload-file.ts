import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { addAbortSignal, finished, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { siteLimits } from '../../../sites/domain/site-contents.ts';
import { PageProblem } from '../frame/page-problem.ts';

export const uploadField = 'archive';
/** Largest archive as sent; equal to the limit for its unpacked content. */
export const largestUpload = siteLimits.bytes;

/** What a form needs around its file: boundaries, headers, other fields. */
const roomAround = 64 * 1024;
/**
 * Parts of a form, and bytes of the headers of one. An empty part costs the parser as much time as a large one: a form
 * of empty parts would take minutes.
 */
const [mostParts, largestPartHead] = [16, 8 * 1024];
/**
 * How long, and for how many bytes, a refused sender may continue: closing the connection at once would lose the
 * answer.
 */
const linger = { ms: 10_000, bytes: largestUpload };

/**
 * Streams the form's file to `file` and reads no more than it needs. Always ends, at the latest at the deadline of
 * `pace`.
 * @throws PageProblem to show beside the field
 */
export const receiveFile = async (
  request: IncomingMessage,
  file: FileHandle,
  pace = uploadPace,
): Promise<void> => {
  if (Number(request.headers['content-length']) > largestUpload + roomAround) throw tooLarge();
  const parser = parserFor(request);
  const over = new AbortController();
  const { meter, stop } = keepingPace(over, pace);
  // Stop at once, or the parser would continue with the bytes it has.
  parser.once('partsLimit', () => {
    over.abort(tooManyParts());
  });
  try {
    const written = writeTo(file, parser, over.signal);
    const arrived = arrive(request, meter, parser, over.signal);
    const [hasFile] = await Promise.race([Promise.all([written, arrived]), endOf(over.signal)]);
    if (!hasFile) throw new PageProblem(422, 'Choose the archive of your site.');
  } catch (error) {
    throw problemWith(error, over.signal);
  } finally {
    stop();
    // Otherwise the writer waits for more, and the file cannot be closed.
    over.abort();
  }
};

/**
 * Reads the request through `meter` into the parser. The request itself is not part of the pipeline, which would
 * destroy it after a refusal, and the answer with it.
 */
const arrive = async (
  request: IncomingMessage,
  meter: Transform,
  parser: BusboyInstance,
  signal: AbortSignal,
): Promise<void> => {
  // A sender that closes its side is cut off with bytes unread, however complete the request is.
  const forget = finished(request, { writable: false }, (error) => {
    if (error) meter.destroy(error);
  });
  request.pipe(meter);
  try {
    await pipeline(meter, parser, { signal });
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

/** An upload that breaks was cut off by the sender, unless the error is from the disk or a limit. */
const problemWith = (error: unknown, { reason }: AbortSignal): unknown => {
  if (reason instanceof PageProblem) return reason;
  if (error instanceof PageProblem || (error as NodeJS.ErrnoException).syscall) return error;
  return new PageProblem(400, 'The upload was interrupted before it was complete. Send it again.');
};

/** Discards the rest of a refused upload, for a while. */
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

/** @throws PageProblem 415 */
const parserFor = ({ headers }: IncomingMessage): BusboyInstance => {
  const limits = {
    files: 1,
    fileSize: largestUpload,
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
    throw new PageProblem(415, 'This form has to be sent by a browser.');
  }
};

/** @returns whether a file was chosen; a browser sends a part without a file name where none was */
const writeTo = (file: FileHandle, parser: BusboyInstance, over: AbortSignal): Promise<boolean> =>
  new Promise((resolve, reject) => {
    let written = Promise.resolve(false);
    parser.on('file', (name, content, fileName) => {
      // It fails together with the parser, which reports the error.
      content.on('error', () => undefined);
      if (name !== uploadField || fileName === '') {
        content.resume();
        return;
      }
      content.once('limit', () => {
        reject(tooLarge());
      });
      written = file.writeFile(addAbortSignal(over, content)).then(() => true);
      written.catch(reject);
    });
    parser.on('error', reject);
    parser.once('finish', () => {
      resolve(written);
    });
  });

const tooLarge = (): PageProblem => {
  const most = `${largestUpload / 1024 / 1024} MiB`;
  return new PageProblem(422, `This file is larger than ${most}, the most that is accepted.`);
};

const tooManyParts = (): PageProblem =>
  new PageProblem(422, 'The form has more than one archive. Choose one file, then send it again.');

const kib = 1024;

export interface UploadPace {
  /** For all of it to arrive. */
  readonly longestMs: number;
  /** Over each such stretch the average must not be lower than `slowest`. */
  readonly windowMs: number;
  /** Bytes per second. */
  readonly slowest: number;
}

/** The largest archive takes half an hour at 114 KiB/s; a site of 28 MiB arrives at the slowest rate. */
export const uploadPace: UploadPace = {
  longestMs: 30 * 60_000,
  windowMs: 30_000,
  slowest: 16 * kib,
};

/** Passes on small pieces, so that other requests get their turn. */
const pieceBytes = 16 * kib;

/**
 * Measures the stream, and ends `over` with a PageProblem when it is too slow or takes too long.
 * @returns the stream to put in between, and a function that ends the watch
 */
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

// Not 408, because browsers may then repeat the request by themselves.
const tooSlow = (slowest: number): PageProblem =>
  new PageProblem(
    400,
    `The upload was too slow: at least ${String(slowest / kib)} KiB per second must arrive. Try again over a faster connection.`,
  );

const tooLong = (longestMs: number): PageProblem =>
  new PageProblem(
    400,
    `The upload took longer than ${String(longestMs / 60_000)} minutes. Upload less, or over a faster connection.`,
  );
