import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { NameServer } from '../../src/adapters/nameserver/name-server.ts';
import { question, read, tokenOf, zoneName } from '../support/nameserver/known-zone.ts';
import { until } from '../support/until.ts';

const limits = { questionMs: 1_000, connectionsOfNetwork: 5, connections: 7 };
/** Long enough for one statement to be under way. */
let answerLookup: () => void;
let server: NameServer;
let port: number;
const errors: unknown[] = [];
beforeEach(async () => {
  const found = Promise.withResolvers<ReadonlyMap<string, readonly string[]>>();
  answerLookup = () => {
    found.resolve(new Map([[tokenOf(1), ['a value']]]));
  };
  server = new NameServer({
    zone: zoneName,
    processes: 1,
    limits,
    find: () => found.promise,
    onError: (error) => errors.push(error),
  });
  port = await server.listen('127.0.0.1', 0);
});
afterEach(async () => {
  answerLookup();
  await server.stop();
  expect(errors).toEqual([]);
});

const soa = question({ name: zoneName, type: 'SOA' });
const txt = question({ name: `${tokenOf(1)}.${zoneName}`, type: 'TXT' });
const framed = (message: Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
};

interface Client extends Socket {
  readonly answers: () => readonly Buffer[];
}
const open = async (localAddress = '127.0.0.1', to = port): Promise<Client> => {
  let received = Buffer.alloc(0);
  const [host, noError] = ['127.0.0.1', () => undefined];
  const socket = connect({ host, port: to, localAddress }).on('error', noError);
  socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
  await once(socket, 'connect');
  const answers = () => {
    const found: Buffer[] = [];
    for (let at = 0; at + 2 <= received.length;) {
      const end = at + 2 + received.readUInt16BE(at);
      found.push(received.subarray(at + 2, end));
      at = end;
    }
    return found;
  };
  return Object.assign(socket, { answers });
};
const closed = (socket: Socket): Promise<unknown> =>
  new Promise((resolve) => {
    if (socket.closed) resolve(undefined);
    else socket.once('close', resolve);
  });

test('a connection that sends nothing, or sends a query slowly, is closed', async () => {
  const [silent, slow, cut] = [await open(), await open(), await open()];
  const dribble = setInterval(() => slow.write(Buffer.from([0])), 20);
  slow.write(Buffer.from([0x0f]));
  cut.write(framed(soa).subarray(0, 10));
  await Promise.all([silent, slow, cut].map(closed));
  clearInterval(dribble);
  await until('they are forgotten', () => server.state().connections === 0);
});

test('a client that does not read answers is disconnected, and uses little memory meanwhile', async () => {
  const greedy = await open();
  greedy.pause();
  const many = Buffer.concat(Array.from({ length: 2_000 }, () => framed(soa)));
  const ended = new Promise((resolve) => greedy.once('close', resolve));
  let sent = 0;
  const send = (): void => {
    while (!greedy.destroyed && sent < 400) {
      sent += 1;
      if (!greedy.write(many)) break;
    }
  };
  greedy.on('drain', send);
  send();
  await until('the server has ended it', () => server.state().connections === 0);
  greedy.destroy();
  await ended;
});

test('a query of 65535 bytes closes its connection before it has arrived completely', async () => {
  const socket = await open();
  socket.write(framed(Buffer.alloc(65_535)));
  await closed(socket);
  expect(socket.answers()).toEqual([]);
});

test('pipelined queries are answered in order, and messages that are not queries are skipped', async () => {
  const socket = await open();
  answerLookup();
  const answer = Buffer.from(soa);
  answer.writeUInt8(0x80, 2);
  const all = [txt, answer, soa, Buffer.alloc(0), Buffer.alloc(5), txt].map(framed);
  for (const byte of Buffer.concat(all)) socket.write(Buffer.from([byte]));
  await until('all are answered', () => socket.answers().length === 3);
  expect(socket.answers().map((bytes) => read(bytes).answers?.[0]?.type)).toEqual([
    ...['TXT', 'SOA', 'TXT'],
  ]);
  socket.end();
  await closed(socket);
});

test('a client that closes its side after the last query still gets the answer', async () => {
  const socket = await open();
  socket.end(framed(txt));
  await new Promise((resolve) => setTimeout(resolve, 20));
  answerLookup();
  await closed(socket);
  expect(socket.answers()).toHaveLength(1);
});

test('one network can have only a few connections', async () => {
  const sockets = await Promise.all(Array.from({ length: 8 }, () => open()));
  await until('three are refused', () => server.state().refusedConnections === 3);
  expect(server.state().connections).toBe(5);
  for (const socket of sockets) socket.destroy();
  await until('they are forgotten', () => server.state().connections === 0);
  const later = await open();
  later.write(framed(soa));
  await until('it is answered', () => later.answers().length === 1);
  later.destroy();
});

test('a client has little time for its first query, and more for the next', async () => {
  const patient = new NameServer({
    zone: zoneName,
    processes: 1,
    limits: { questionMs: 60_000, firstQuestionMs: 300 },
    find: () => Promise.resolve(new Map()),
    onError: (error) => errors.push(error),
  });
  const to = await patient.listen('127.0.0.1', 0);
  const asking = await open('127.0.0.1', to);
  asking.write(framed(soa));
  await until('it is answered', () => asking.answers().length === 1);
  const [silent, vain] = [await open('127.0.0.1', to), await open('127.0.0.1', to)];
  vain.write(framed(Buffer.alloc(0)));
  await Promise.all([silent, vain].map(closed));
  asking.write(framed(soa));
  await until('it is answered again', () => asking.answers().length === 2);
  await patient.stop();
});

test('when all places are taken, the network with the most connections loses the one that was idle longest', async () => {
  const crowd: Client[] = [];
  for (let n = 0; n < 4; n++) crowd.push(await open('127.0.1.1'));
  const few = [await open('127.0.2.1'), await open('127.0.2.1'), await open('127.0.3.1')];
  await until('all places are taken', () => server.state().connections === 7);
  crowd[0]?.write(framed(soa));
  await until('the first is quiet no more', () => crowd[0]?.answers().length === 1);
  const late = await open('127.0.4.1');
  late.write(framed(soa));
  await until('the late one is answered', () => late.answers().length === 1);
  await closed(crowd[1] ?? late);
  const { connections, refusedConnections } = server.state();
  expect([connections, refusedConnections]).toEqual([7, 1]);
  expect([...crowd, ...few, late].filter((socket) => socket.closed)).toEqual([crowd[1]]);
  for (const socket of [...crowd, ...few, late]) socket.destroy();
});

test('a flood of datagrams leaves the server answering over TCP', async () => {
  const flood = createSocket('udp4');
  flood.connect(port, '127.0.0.1');
  await once(flood, 'connect');
  let answered = 0;
  flood.on('message', () => (answered += 1));
  const noise = [soa, txt, soa.subarray(0, 17), Buffer.alloc(600, 0xc0), Buffer.alloc(3)];
  for (let n = 0; n < 5_000; n++) flood.send(noise[n % noise.length] ?? soa);
  const socket = await open();
  socket.write(framed(soa));
  await until('TCP is answered', () => socket.answers().length === 1);
  await until('the flood was seen', () => answered > 30);
  expect(server.state().limited).toBeGreaterThan(0);
  flood.close();
  socket.destroy();
});

test('queries that wait for the database at a stop are answered, over UDP and TCP', async () => {
  const [asker, socket] = [createSocket('udp4'), await open()];
  asker.connect(port, '127.0.0.1');
  await once(asker, 'connect');
  const answer = once(asker, 'message') as Promise<[Buffer]>;
  asker.send(txt);
  socket.write(framed(txt));
  asker.send(soa.subarray(0, 12));
  await answer;
  const last = once(asker, 'message') as Promise<[Buffer]>;
  const stopped = server.stop();
  answerLookup();
  expect(read((await last)[0]).answers).toHaveLength(1);
  await stopped;
  await closed(socket);
  expect(socket.answers()).toHaveLength(1);
  asker.close();
});
