import { writeSync } from 'node:fs';
import pino, { stdSerializers, type Logger } from 'pino';

export interface Log {
  readonly log: Logger;
  readonly flush: () => void;
}

export interface LogOptions {
  /** Marks each line if several processes share an output. Their lines must not mix. */
  readonly pid?: number | undefined;
  readonly traceId?: (() => string | undefined) | undefined;
}

const batchCharacters = 16_000;
/** A pipe keeps a write together only up to this size (PIPE_BUF in pipe(7)). */
const sharedBatchBytes = 4_096;

/**
 * Creates the log. pino's own batching would measure each line twice.
 * @param redact removes secrets from errors, because a driver may quote its URL
 */
export const createLog = (
  level: string,
  redact: (text: string) => string,
  { pid, traceId }: LogOptions = {},
): Log => {
  const most = pid === undefined ? batchCharacters : sharedBatchBytes;
  let lines: string[] = [];
  let length = 0;
  const flush = () => {
    if (lines.length === 0) return;
    const batch = lines;
    lines = [];
    length = 0;
    const bytes = Buffer.from(batch.join(''));
    if (pid === undefined || bytes.length <= sharedBatchBytes) writeAll(bytes);
    else for (const line of batch) writeAll(Buffer.from(line));
  };
  const write = (line: string) => {
    if (length + line.length > most) flush();
    lines.push(line);
    length += line.length;
  };
  setInterval(flush, 1000).unref();
  const serializers = { err: redactedError(redact) };
  const base = pid === undefined ? null : { pid };
  const mixin = traceId && mixing(traceId);
  return { log: pino({ level, base, serializers, ...(mixin && { mixin }) }, { write }), flush };
};

const mixing = (current: () => string | undefined) => (): { traceId?: string } => {
  const traceId = current();
  return traceId === undefined ? {} : { traceId };
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

/** Drops unwritten lines if the reader is closed or slow or the disk is full, because logging must not stop the service. */
const writeAll = (bytes: Buffer): void => {
  try {
    for (let written = 0; written < bytes.length;) {
      written += writeSync(1, bytes, written);
    }
  } catch {
    // There is nowhere left to report this.
  }
};
