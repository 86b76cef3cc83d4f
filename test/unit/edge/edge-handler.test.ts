import type { TLSSocket } from 'node:tls';
import { expect, test } from '@jest/globals';
import type { Answer } from '../../../src/adapters/edge/answer.ts';
import type { Answers } from '../../../src/adapters/edge/answers.ts';
import type { EdgeRequest, EdgeResponse } from '../../../src/adapters/edge/edge-answer.ts';
import { secureHandler, type EdgePorts } from '../../../src/adapters/edge/edge-handler.ts';

/** A connection that was made for rex.test, whose socket has another name now. */
const connection = { line: { host: 'rex.test' } } as unknown as Answer;
const socket = { servername: 'tom.test' } as unknown as TLSSocket;

const statusFor = (host: string): number | undefined => {
  const answers = { begin: () => connection } as unknown as Answers;
  const routes = { find: () => ({ kind: 'redirect', to: 'https://x.test', status: 307 }) };
  let status: number | undefined;
  const request = { url: '/', headers: { host }, rawHeaders: ['Host', host], socket };
  const response = { writeHead: (code: number) => (status = code), end: () => undefined };
  secureHandler({ routes } as unknown as EdgePorts, answers)(
    request as unknown as EdgeRequest,
    response as unknown as EdgeResponse,
  );
  return status;
};

test('a request has to be for the host that the connection was made for', () => {
  expect([statusFor('rex.test'), statusFor('tom.test')]).toEqual([307, 421]);
});
