import { writeSync } from 'node:fs';
import pino, { type Logger } from 'pino';

export interface Log {
  readonly log: Logger;
  /** Writes what was held back. Whoever ends the process calls it. */
  readonly flush: () => void;
}

const batchCharacters = 16_000;

/**
 * JSON lines on standard output, written in batches and at least once a second. (pino's own batching measures
 * each line twice, which costs as much as making the line.)
 */
export const createLog = (level: string): Log => {
  let lines: string[] = [];
  let length = 0;
  const flush = () => {
    if (lines.length === 0) return;
    const batch = lines.join('');
    lines = [];
    length = 0;
    writeAll(Buffer.from(batch));
  };
  const write = (line: string) => {
    lines.push(line);
    length += line.length;
    if (length >= batchCharacters) flush();
  };
  setInterval(flush, 1000).unref();
  return { log: pino({ level, base: null }, { write }), flush };
};

/** A reader that is gone or slow must not end or block the service for good: what it cannot take is dropped. */
const writeAll = (bytes: Buffer): void => {
  try {
    for (let written = 0; written < bytes.length;) {
      written += writeSync(1, bytes, written);
    }
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code !== 'EPIPE' && code !== 'EAGAIN') throw error;
  }
};
