import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { tracedVisits } from '../../src/adapters/edge/edge-handler.ts';
import { Response } from '../../src/adapters/http/listener/http-server.ts';
import { tracedRequests } from '../../src/adapters/http/request-lifecycle.ts';
import { RecordingTracer } from '../support/recording-tracer.ts';
import type { EdgeResponse } from '../../src/adapters/edge/edge-answer.ts';

const requested = async (method: string, url: string, answer: (response: Response) => void) => {
  const tracer = new RecordingTracer();
  const request = Object.assign(new IncomingMessage(new Socket()), { method, url });
  const response = new Response(request);
  await tracedRequests(tracer, () => {
    answer(response);
  })(request, response);
  return tracer.steps[0];
};
const end = (response: Response) => response.end();

test.each([
  '/v1/pets?name=hunter2',
  '/v1/pets#hunter2',
  '/v1/pets?a#hunter2',
  'http://zoo:hunter2@api.zoo.example/v1/pets?name=hunter2#hunter2',
])('a span for the address %s contains only its path', async (url) => {
  const step = await requested('GET', url, end);
  expect(step?.facts['url.path']).toBe('/v1/pets');
  expect(JSON.stringify(step)).not.toContain('hunter2');
});

test('an unknown HTTP method gets no span name of its own', async () => {
  const step = await requested('HUNTER2', '/', (response) => {
    response.route = '/docs';
    response.end();
  });
  expect(step?.name).toBe('HTTP /docs');
  expect(step?.facts['http.request.method']).toBe('_OTHER');
});

test('a status of 500 or more is a failure, and so is a client that left before its answer', async () => {
  const failureOf = async (answer: (response: Response) => void) =>
    (await requested('GET', '/', answer))?.failure;
  expect(await failureOf((response) => response.writeHead(404).end())).toBeUndefined();
  expect(await failureOf((response) => response.writeHead(503).end())).toBe('503');
  expect(await failureOf((response) => response.destroy())).toBe('client_disconnected');
});

test('a visit is recorded until its answer is sent, and fails if its visitor leaves before', async () => {
  const failureOf = async (answer: (sink: Writable) => void) => {
    const tracer = new RecordingTracer();
    const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/' });
    const sink = new Writable({ write: (_piece, _encoding, done) => done() });
    const response = Object.assign(sink, { statusCode: 200 }) as unknown as EdgeResponse;
    tracedVisits(tracer, 'https', () => answer(sink))(request, response);
    await once(sink, 'close');
    await setImmediate();
    return [tracer.steps[0]?.facts['http.response.status_code'], tracer.steps[0]?.failure];
  };
  expect(await failureOf((sink) => sink.end('all of it'))).toEqual([200, undefined]);
  expect(await failureOf((sink) => sink.destroy())).toEqual([200, 'client_disconnected']);
});
