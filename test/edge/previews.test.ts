import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { later } from '../support/accounts.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';
import { closed } from '../support/http/edge-client.ts';

const preview = 'birds--3.sites.test';
const site = {
  'index.html': 'deploy 3',
  '404.html': 'none',
  'app-3f9a1c07.js': `/* ${'x'.repeat(3000)} */`,
};

const notForOthers = { 'x-robots-tag': 'noindex', 'cache-control': 'no-store' };

describe('a preview where one certificate covers all names of the platform', () => {
  let edge: RunningEdge;
  beforeAll(async () => {
    edge = await startEdge();
    await edge.setCertificate(await edge.issue('*.sites.test', ['sites.test']));
    await edge.publish(preview, site);
    await edge.publish('birds.sites.test', site);
    await edge.removeCertificate(preview, later(0));
    await edge.routes.refresh();
  });
  afterAll(() => edge.close());

  test.each(['HTTP/1.1', 'HTTP/2'] as const)(
    'is served over %s, and is neither indexed nor cached',
    async (protocol) => {
      const answers = [
        await edge.visit(protocol, preview, '/'),
        await edge.visit(protocol, preview, '/app-3f9a1c07.js'),
        await edge.visit(protocol, preview, '/nowhere'),
        await edge.visit(protocol, preview, '/', { headers: { Range: 'bytes=0-3' } }),
        await edge.visit(protocol, preview, '/', { method: 'HEAD' }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 206, 200]);
      for (const { headers } of answers) expect(headers).toMatchObject(notForOthers);
      expect(String(answers[0]!.body)).toBe('deploy 3');
      const etag = String(answers[0]!.headers['etag']);
      const known = await edge.visit(protocol, preview, '/', {
        headers: { 'If-None-Match': etag },
      });
      expect([known.status, known.headers]).toEqual([304, expect.objectContaining(notForOthers)]);
    },
  );

  test('does not change the site itself', async () => {
    const { headers } = await edge.get('birds.sites.test', '/app-3f9a1c07.js');
    expect(headers['x-robots-tag']).toBeUndefined();
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
  });

  test('redirects plain HTTP to HTTPS', async () => {
    const answer = await edge.plain(['GET /a HTTP/1.1', `Host: ${preview}`, 'Connection: close']);
    expect(answer).toMatch(/^HTTP\/1.1 308 /);
    expect(answer).toContain(`Location: https://${preview}/a`);
  });

  test('disappears with its deploy, even on open connections', async () => {
    const socket = await edge.connect(preview);
    await edge.remove(preview);
    await closed(socket);
    await expect(edge.get(preview, '/')).rejects.toThrow();
  });
});

describe('a preview without such a certificate', () => {
  const ask = (edge: RunningEdge, path = '/') =>
    edge.plain([`GET ${path} HTTP/1.1`, `Host: ${preview}`, 'Connection: close']);
  const publish = async (edge: RunningEdge) => {
    await edge.publish(preview, site);
    await edge.removeCertificate(preview, later(0));
    await edge.routes.refresh();
  };

  test('is served over plain HTTP in development, until its deploy is deleted', async () => {
    const edge = await startEdge({ settings: { plainPreviews: true } });
    await publish(edge);
    const answer = await ask(edge);
    expect(answer).toMatch(/^HTTP\/1.1 200 OK[^]+X-Robots-Tag: noindex[^]+deploy 3$/);
    expect(await ask(edge, '/nowhere')).toMatch(/^HTTP\/1.1 404 [^]+none$/);
    expect(edge.server.state()).toMatchObject({ requests: 2, answers: 0 });
    await expect(edge.connect(preview)).rejects.toThrow();

    const kept = connect(edge.ports.http, '127.0.0.1');
    kept.write(`GET / HTTP/1.1\r\nHost: ${preview}\r\n\r\n`);
    await new Promise((resolve) => kept.once('data', resolve));
    await edge.remove(preview);
    await closed(kept);
    expect(await ask(edge)).toMatch(/^HTTP\/1.1 404 /);
    await edge.close();
  });

  test('is not served in production', async () => {
    const edge = await startEdge();
    await publish(edge);
    expect(await ask(edge)).toMatch(/^HTTP\/1.1 404 /);
    await expect(edge.connect(preview)).rejects.toThrow();
    await edge.close();
  });
});
