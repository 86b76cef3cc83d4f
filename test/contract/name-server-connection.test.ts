import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, test } from '@jest/globals';
import { nameServerLimits } from '../../src/adapters/nameserver/limits.ts';
import { TcpConnection } from '../../src/adapters/nameserver/tcp-listener.ts';
import type { Responder } from '../../src/adapters/nameserver/responder.ts';
import { until } from '../support/until.ts';

const questions = 30;
const question = Buffer.from([0, 1, 7]);

test('a connection whose client reads slowly does not keep answers that were sent', async () => {
  const listeners: number[] = [];
  const socket = new Duplex({
    highWaterMark: 1,
    read: () => undefined,
    write: (_answer, _encoding, taken) => {
      listeners.push(socket.listenerCount('close') + socket.listenerCount('drain'));
      setImmediate(taken);
    },
  });
  const responder = { overTcp: (message: Buffer) => message } as Responder;
  new TcpConnection(socket as Socket, responder, {
    limits: nameServerLimits,
    isLast: () => false,
  });
  socket.push(Buffer.concat(Array.from({ length: questions }, () => question)));
  await until('all are answered', () => listeners.length === questions);
  socket.destroy();
  expect(listeners).toEqual(listeners.map(() => listeners[0]));
});
