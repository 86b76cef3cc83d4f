import { Transform } from 'node:stream';
import { PageProblem } from '../frame/page-problem.ts';

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
export const keepingPace = (
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
