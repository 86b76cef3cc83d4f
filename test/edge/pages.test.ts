import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { protocols, type EdgeAnswer, type Visit } from '../support/http/edge-client.ts';
import { siteStorages, startEdge, type RunningEdge } from '../support/http/running-edge.ts';

const site = {
  'index.html': '<h1>Rex</h1>',
  'about.html': 'about',
  'docs/index.html': 'docs',
  'docs/read me.txt': 'read me',
  'grüße.html': 'hello',
  LICENSE: 'free',
  'empty.txt': '',
  '.well-known/security.txt': 'Contact: mailto:rex@pets.test',
  'app.js': 'let a',
  'backup.unknown': 'x',
  'app-3f9a1c07.js': 'let b',
};

describe.each(siteStorages)('a site stored in %s', (storage) => {
  describe.each(protocols)('over %s', (protocol) => {
    let edge: RunningEdge;
    beforeAll(async () => {
      edge = await startEdge({ storage });
      await edge.publish('rex.test', { ...site, '404.html': 'nothing here' });
      await edge.publish('tom.sites.test', { 'index.html': '<h1>Tom</h1>' });
    });
    afterAll(() => edge.close());

    const ask = (path: string, visit?: Visit, host = 'rex.test'): Promise<EdgeAnswer> =>
      edge.visit(protocol, host, path, visit);
    const textAt = async (path: string): Promise<string> => String((await ask(path)).body);

    test.each([
      ['/', '<h1>Rex</h1>'],
      ['/about', 'about'],
      ['/docs/?a=%zz', 'docs'],
      ['/gr%75%CC%88%C3%9Fe', 'hello'],
      ['/LICENSE', 'free'],
      ['/empty.txt', ''],
      ['/.well-known/security.txt', 'Contact: mailto:rex@pets.test'],
    ])('%s is answered with what is published there', async (path, content) => {
      const answer = await ask(path);
      expect([answer.status, String(answer.body)]).toEqual([200, content]);
      expect(answer.headers['content-length']).toBe(String(content.length));
    });

    test.each([['/d%6Fcs?a=1&b=%20', '/d%6Fcs/?a=1&b=%20']])(
      'the folder at %s redirects to %s, so that its relative links work',
      async (path, to) => {
        const answer = await ask(path);
        expect([answer.status, answer.headers['location']]).toEqual([308, to]);
      },
    );

    test.each(['/nothing', '/Index.html'])(
      'a missing page, like %s, is answered with the 404 page of the site',
      async (path) => {
        const answer = await ask(path);
        expect([answer.status, String(answer.body)]).toEqual([404, 'nothing here']);
        expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
      },
    );

    test('a site without its own 404 page gets a plain one', async () => {
      const answer = await ask('/nothing', {}, 'tom.sites.test');
      expect([answer.status, String(answer.body)]).toEqual([404, '404 Not Found\n']);
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
      expect(answer.headers['cache-control']).toBe('no-store');
    });

    test('the 404 page can be requested directly', async () => {
      expect((await ask('/404.html')).status).toBe(200);
      expect(await textAt('/404')).toBe('nothing here');
    });

    test.each(['/', '/docs', '/nothing', '/docs//'])(
      'HEAD %s has the status and the headers of GET, and no body',
      async (path) => {
        const whole = await ask(path);
        const head = await ask(path, { method: 'HEAD' });
        const withoutDate = ({ status, headers }: EdgeAnswer) => ({
          ...headers,
          date: undefined,
          status,
        });
        expect(withoutDate(head)).toEqual(withoutDate(whole));
        expect(head.body.length).toBe(0);
      },
    );

    test('every answer of a site has nosniff, HSTS and a strict referrer policy', async () => {
      for (const path of ['/', '/app.js', '/nothing']) {
        expect((await ask(path)).headers).toMatchObject({
          'x-content-type-options': 'nosniff',
          'strict-transport-security': 'max-age=86400',
          'referrer-policy': 'strict-origin-when-cross-origin',
        });
      }
    });

    test.each(['POST', 'OPTIONS', 'PROPFIND'])('the method %s is refused', async (method) => {
      for (const path of ['/', '/nothing']) {
        const answer = await ask(path, { method });
        expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD']);
      }
    });

    test('only GET and HEAD reveal which files are published', async () => {
      const [there, missing] = await Promise.all(
        ['/about', '/nothing'].map((path) => ask(path, { method: 'POST' })),
      );
      expect(missing!.body).toEqual(there!.body);
    });
  });
});
