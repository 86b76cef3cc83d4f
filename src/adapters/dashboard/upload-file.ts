import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { addAbortSignal } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { siteLimits } from '../../sites/domain/site-contents.ts';
import { PageProblem } from './page-problem.ts';

/** Name of the one field that counts. */
export const uploadField = 'archive';
/** Of an archive as it is sent: as much as there may be in it. */
export const largestUpload = siteLimits.bytes;

/** What a form needs around its file: boundaries, headers, other fields. */
const roomAround = 64 * 1024;
/** Who sends nothing for so long has gone. */
const longestSilenceMs = 60_000;
/**
 * So long, and for so many bytes more, a refused sender may go on, and hears of it then; a connection that is closed
 * at once loses the answer too.
 */
const linger = { ms: 10_000, bytes: largestUpload };

/**
 * Writes the file of a form to `file` as it comes in, and reads no further than that takes.
 * @throws PageProblem that is meant to stand beside the field
 */
export const receiveFile = async (request: IncomingMessage, file: FileHandle): Promise<void> => {
  if (Number(request.headers['content-length']) > largestUpload + roomAround) throw tooLarge();
  const parser = parserFor(request);
  const over = new AbortController();
  const written = writeTo(file, parser, over.signal);
  const gone = new Promise<never>((_, reject) => {
    const look = (): void => {
      if (!request.complete) reject(cutOff());
    };
    request.once('error', look).once('close', look);
    if (request.destroyed) look();
  });
  request.setTimeout(longestSilenceMs);
  request.pipe(parser);
  try {
    const hasFile = await Promise.race([written, gone]);
    if (!hasFile) throw new PageProblem(422, 'Choose the archive of your site.');
  } finally {
    request.unpipe(parser);
    request.setTimeout(0);
    // Who writes waits for more otherwise, and the file cannot be closed.
    over.abort();
  }
};

/** Throws away what still comes of a refused upload, for a while. */
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
  const limits = { files: 1, fileSize: largestUpload, fields: 8, fieldSize: 1024, headerPairs: 32 };
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
      // It fails together with the parser, which tells of it.
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
    parser.on('error', () => {
      reject(cutOff());
    });
    parser.once('finish', () => {
      resolve(written);
    });
  });

const tooLarge = (): PageProblem => {
  const most = `${largestUpload / 1024 / 1024} MiB`;
  return new PageProblem(422, `This file is larger than ${most}, the most that is accepted.`);
};

const cutOff = (): PageProblem =>
  new PageProblem(400, 'The upload was interrupted before it was complete. Send it again.');
