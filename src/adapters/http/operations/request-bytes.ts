import type { IncomingMessage } from 'node:http';
import { RequestError } from '../answers/error-table.ts';

export const largestBody = 64 * 1024;

/**
 * Reads a body of at most 64 KiB, counted while it arrives.
 * @throws RequestError `payload_too_large`, `malformed_json` when it breaks off; or what the listener found wrong
 */
export const readBytes = (request: IncomingMessage): Promise<Uint8Array> => {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (length === undefined && coding === undefined) return Promise.resolve(new Uint8Array());
  if (Number(length ?? 0) > largestBody) return Promise.reject(tooLarge());
  // A client that is gone sends no more news.
  if (request.destroyed) return Promise.reject(brokenOff());
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    request.on('data', (part: Buffer) => {
      size += part.length;
      parts.push(part);
      if (size <= largestBody) return;
      parts.length = 0;
      request.pause();
      reject(tooLarge());
    });
    request.once('end', () => {
      resolve(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts));
    });
    // The listener's errors name the cause already.
    request.once('error', (error) => {
      reject(error instanceof RequestError ? error : brokenOff());
    });
    request.once('close', () => {
      if (!request.readableEnded) reject(brokenOff());
    });
  });
};

const tooLarge = () =>
  new RequestError(
    'payload_too_large',
    `The body is larger than 64 KiB (${String(largestBody)} bytes); send less.`,
    { Connection: 'close' },
  );

const brokenOff = () =>
  new RequestError('malformed_json', 'The body did not arrive completely as UTF-8 text.');
