import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, type FileHandle } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { receiveFile } from '../../src/adapters/dashboard/projects/upload-file.ts';
import { uploadPace, type UploadPace } from '../../src/adapters/dashboard/projects/upload-pace.ts';
import { partEnd, partHead } from '../support/http/raw-upload.ts';
import { neverMs, until } from '../support/until.ts';

let folder: string;
let file: FileHandle;
let server: Server;
let socket: Socket;
let pace: UploadPace;
let outcome: Promise<unknown>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-slow-'));
  file = await open(join(folder, 'upload'), 'wx');
  let settle: (how: unknown) => void;
  outcome = new Promise((resolve) => (settle = resolve));
  server = createServer((request, response) => {
    receiveFile(request, file, pace)
      .then(
        () => 'received',
        (error: unknown) => error,
      )
      .then((how) => {
        response.end();
        settle(how);
      }, settle);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on(
    'error',
    () => undefined,
  );
});
afterEach(async () => {
  socket.destroy();
  server.close();
  await file.close();
  await rm(folder, { recursive: true });
});

const usual = { ...uploadPace, windowMs: 200 };
/** For uploads that nobody ends: the machine may stand still between two of their bytes. */
const patient = { ...uploadPace, windowMs: neverMs };

/** One byte now and then, until nobody listens any more. */
const trickle = (): void => {
  void until('nobody listens', () => {
    if (!socket.destroyed) socket.write('x');
    return socket.destroyed;
  });
};

const begin = (length: number): void => {
  const head = `Content-Type: multipart/form-data; boundary=x\r\nContent-Length: ${String(length)}`;
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${partHead}`);
};

test('an upload must send 16 KiB in each 30 seconds and finish within half an hour', () => {
  expect(uploadPace).toEqual({ longestMs: 30 * 60_000, windowMs: 30_000, slowest: 16 * 1024 });
});

test('an upload byte by byte is ended after the first interval', async () => {
  pace = usual;
  begin(100_000);
  trickle();
  expect(await outcome).toMatchObject({ name: 'PageProblem', status: 400 });
  expect(await outcome).toHaveProperty('message', expect.stringMatching(/16 KiB per second/));
});

test('an upload that stalls is ended after the first interval', async () => {
  pace = usual;
  begin(100_000);
  expect(await outcome).toHaveProperty('message', expect.stringMatching(/too slow/));
});

test('an upload at a sufficient rate is ended by the deadline', async () => {
  pace = { longestMs: 1_000, windowMs: 200, slowest: 0 };
  begin(100_000);
  trickle();
  expect(await outcome).toHaveProperty('message', expect.stringMatching(/took longer than/));
});

test('an upload at a sufficient rate is received, byte for byte', async () => {
  pace = patient;
  const content = 'x'.repeat(1_000_000);
  begin(partHead.length + content.length + partEnd.length);
  socket.write(`${content}${partEnd}`);
  expect(await outcome).toBe('received');
  expect(await readFile(join(folder, 'upload'), 'utf8')).toBe(content);
});

test('a form of nothing but empty parts is refused after the first of them, before the rest arrives', async () => {
  pace = patient;
  begin(200_000_000);
  socket.write('\r\n--x\r\n\r\n'.repeat(10_000));
  expect(await outcome).toMatchObject({ name: 'PageProblem', status: 422 });
  expect(await outcome).toHaveProperty('message', expect.stringMatching(/more than one/));
});
