import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { protocols } from '../support/http/edge-client.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';

const nothing = (): void => undefined;

describe('an edge on a Node whose sockets over TLS do not name the one below', () => {
  let edge: RunningEdge;
  beforeAll(async () => {
    Object.defineProperty(TLSSocket.prototype, '_parent', {
      configurable: true,
      get: () => undefined,
      set: nothing,
    });
    edge = await startEdge();
    await edge.publish('rex.test', { 'index.html': 'Rex' });
  });
  afterAll(async () => {
    Reflect.deleteProperty(TLSSocket.prototype, '_parent');
    await edge.close();
  });

  test.each(protocols)('serves several visitors at once over %s', async (protocol) => {
    const visits = [1, 2, 3].map(() => edge.visit(protocol, 'rex.test', '/'));
    const answers = await Promise.all(visits);
    expect(answers.map(({ body }) => String(body))).toEqual(['Rex', 'Rex', 'Rex']);
  });

  test('refuses an unknown host with the alert for it', async () => {
    await expect(edge.connect('tom.test')).rejects.toMatchObject({
      code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME',
    });
  });
});
