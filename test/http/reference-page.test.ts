import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createContext, runInContext } from 'node:vm';
import { publicUrl, startApi, type RunningApi } from '../support/running-api.ts';

interface SwaggerUi {
  readonly specActions: { updateJsonSpec(document: unknown): void };
  readonly specSelectors: { allowTryItOutFor(path: string, verb: string): boolean };
}

/** Of a browser's window, what Swagger UI touches without drawing anything. */
const windowAt = (href: string) => {
  const { URL, URLSearchParams, TextEncoder, TextDecoder, Headers, Request, Response } = globalThis;
  const { Blob, File, FormData, AbortController, fetch, setTimeout, clearTimeout } = globalThis;
  const silent = { log: () => undefined, warn: () => undefined, error: () => undefined };
  const window: Record<string, unknown> = {
    ...{ URL, URLSearchParams, TextEncoder, TextDecoder, Headers, Request, Response },
    ...{ Blob, File, FormData, AbortController, fetch, setTimeout, clearTimeout },
    console: silent,
    document: { baseURI: href },
    location: new URL(href),
    navigator: { userAgent: 'test', platform: 'test' },
    addEventListener: () => undefined,
  };
  return Object.assign(window, { window, self: window });
};

describe('/docs', () => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi('sqlite');
  });
  afterAll(() => api.close());

  const get = async (path: string): Promise<string> => {
    const answer = await api.send(path, { key: null });
    expect(answer.status).toBe(200);
    return answer.text;
  };
  const assetsOf = (page: string): readonly string[] =>
    [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address);

  test('is a page that anybody may see, with its assets from this server only', async () => {
    const page = await get('/docs');
    const assets = assetsOf(page).filter((address) => address !== 'data:,');
    expect(assets.length).toBeGreaterThanOrEqual(4);
    for (const address of assets) {
      expect(address).toMatch(/^\/(docs|v1)\//);
      await get(address);
    }
  });

  test('names no other host in what we wrote ourselves', async () => {
    for (const path of ['/docs', '/docs/reference.js', '/docs/reference.css']) {
      expect(await get(path)).not.toMatch(/https?:\/\/|["'(]\/\//);
    }
    expect(await get('/docs/swagger-ui.css')).not.toMatch(/url\(["']?(https?:)?\/\//);
  });

  test('lets the browser load nothing from another host, and call only the servers of the document', async () => {
    for (const path of ['/docs', '/docs/reference.js']) {
      const { headers } = await api.send(path);
      const policy = headers.get('Content-Security-Policy') ?? '';
      expect(policy).toMatch(/default-src 'none'; script-src 'self';/);
      const servers = new URL(publicUrl).origin;
      expect(policy).toContain(`connect-src 'self' ${servers}; frame-ancestors 'none'`);
      const others = policy.replace(servers, '');
      expect(others).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe/);
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    }
  });

  test('sends each asset with its type, compressed for who can unpack it', async () => {
    const types = {
      '/docs': 'text/html',
      '/docs/reference.js': 'text/javascript',
      '/docs/reference.css': 'text/css',
      '/docs/swagger-ui.css': 'text/css',
      '/docs/swagger-ui-bundle.js': 'text/javascript',
    };
    for (const [path, type] of Object.entries(types)) {
      const plain = await api.send(path, { headers: { 'Accept-Encoding': 'identity' } });
      const zipped = await api.send(path, { headers: { 'Accept-Encoding': 'gzip' } });
      expect(plain.headers.get('Content-Type')).toBe(`${type}; charset=utf-8`);
      expect(plain.headers.has('Content-Encoding')).toBe(false);
      expect(zipped.headers.get('Content-Encoding')).toBe('gzip');
      expect(zipped.headers.get('Vary')).toContain('Accept-Encoding');
      expect(zipped.text).toBe(plain.text);
    }
  });

  test('offers "try it out" for every operation but GET /store/orders, in the Swagger UI that we send', async () => {
    const window = windowAt(`${api.origin}/docs`);
    const browser = createContext(window);
    runInContext(await get('/docs/swagger-ui-bundle.js'), browser);
    const real = window['SwaggerUIBundle'] as (settings: object) => SwaggerUi;
    let settings: Record<string, unknown> = {};
    window['SwaggerUIBundle'] = (given: Record<string, unknown>) => void (settings = given);
    runInContext(await get('/docs/reference.js'), browser);
    expect(settings).toMatchObject({ url: '/v1/openapi.json', validatorUrl: null });

    // The same settings, but without drawing and with the document that the server just sent.
    const ui = real({ ...settings, dom_id: null, url: '' });
    ui.specActions.updateJsonSpec(api.document);
    const offered = Object.entries(api.document.paths).flatMap(([path, verbs]) =>
      Object.keys(verbs).map((verb) => [
        `${verb} ${path}`,
        ui.specSelectors.allowTryItOutFor(path, verb),
      ]),
    );
    expect(Object.fromEntries(offered)).toEqual({
      'get /pets': true,
      'post /pets': true,
      'get /pets/{petId}': true,
      'get /store/orders': false,
    });
  });
});
