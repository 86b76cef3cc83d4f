import { writeSync } from 'node:fs';
import pino, { stdSerializers, type Logger } from 'pino';

export interface Log {
  readonly log: Logger;
  /** Writes buffered lines. Call it before the process exits. */
  readonly flush: () => void;
}

const batchCharacters = 16_000;

/**
 * JSON lines on standard output, written in batches and at least once a second. (pino's own batching measures
 * each line twice, which costs as much as making the line.)
 * @param redact takes secrets out of what errors say: a driver may quote the address that it was given
 */
export const createLog = (level: string, redact: (text: string) => string): Log => {
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
  const serializers = { err: redactedError(redact) };
  return { log: pino({ level, base: null, serializers }, { write }), flush };
};

const redactedError = (redact: (text: string) => string) => (error: unknown) => {
  const shown: unknown = error instanceof Error ? stdSerializers.err(error) : error;
  // Values that JSON cannot represent, such as a bigint or a cycle, are logged as text.
  try {
    return JSON.parse(redact(JSON.stringify(shown))) as unknown;
  } catch {
    return redact(String(error));
  }
};

/** A closed or slow reader must neither end nor block the service: lines that it cannot take are dropped. */
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
