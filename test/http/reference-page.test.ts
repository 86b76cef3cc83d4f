import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AxeResults } from 'axe-core';
import type { TestPage } from '../support/dashboard/page.ts';
import { errorTable } from '../../src/adapters/http/error-table.ts';
import { axe } from '../support/dashboard/crawl.ts';
import { browserStartMs, startBrowser, type TestBrowser } from '../support/dashboard/browser.ts';
import { publicUrl, startApi, type RunningApi } from '../support/http/running-api.ts';
import { until } from '../support/until.ts';
import { payloadDocument } from '../../src/adapters/http/reference/payload-schemas.ts';
import { messageTypes } from '../../src/notifications/domain/payload.ts';

describe('/docs', () => {
  let api: RunningApi;
  let browser: TestBrowser;
  beforeAll(async () => {
    api = await startApi('sqlite');
    browser = await startBrowser(api.origin);
  }, browserStartMs);
  afterAll(async () => {
    await browser.closePages();
    await api.close();
  });

  const get = async (path: string): Promise<string> => {
    const answer = await api.send(path, { key: null });
    expect(answer.status).toBe(200);
    return answer.text;
  };

  /**
   * Opens the page. Closing it fails if the page called another host or violated the
   * Content-Security-Policy.
   */
  const open = async (look: Parameters<TestBrowser['open']>[0] = {}): Promise<TestPage> => {
    const page = await browser.open(look);
    await page.goto(`${api.origin}/docs`);
    if (look.javaScript !== false) await page.exactly('Try it').last().isShown();
    return page;
  };

  test('lets the browser load and call only this server, and run no inline script or style', async () => {
    for (const path of ['/docs', '/docs/reference.js']) {
      const { headers } = await api.send(path);
      const policy = headers.get('Content-Security-Policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy).toContain(`connect-src 'self'; frame-ancestors 'none'`);
      expect(policy).not.toMatch(/https?:|\*|unsafe/);
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    }
  });

  test('sends each part with its type, compressed for clients that accept it', async () => {
    const types = {
      '/docs': 'text/html',
      '/docs/reference.js': 'text/javascript',
      '/docs/reference.css': 'text/css',
      '/docs.md': 'text/markdown',
      '/llms.txt': 'text/plain',
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

  test('contains everything in the OpenAPI document, also as Markdown', async () => {
    const [page, markdown] = [await get('/docs'), await get('/docs.md')];
    const { paths, components } = api.document;
    const operations = Object.entries(paths).flatMap(([path, verbs]) =>
      Object.keys(verbs).map((verb) => `${verb.toUpperCase()} ${path}`),
    );
    const elsewhere = ['route_not_found', 'method_not_allowed'];
    const codes = Object.keys(errorTable).filter((code) => !elsewhere.includes(code));
    const fields = Object.values(components.schemas).flatMap(({ properties = {} }) =>
      Object.keys(properties),
    );
    for (const word of [...operations, ...codes, ...fields, 'Idempotency-Key', 'X-RateLimit-Reset'])
      for (const text of [page, markdown]) expect(text).toContain(word);
    expect(markdown).not.toMatch(/undefined|\[object/);
    const headings = [...markdown.matchAll(/^#{1,3} `?([^`\n]+)/gm)].map(([, text = '']) =>
      text.toLowerCase().replaceAll(' ', '-'),
    );
    const links = [...markdown.matchAll(/\]\(#([^)]*)\)/g)].map(([, name]) => name);
    expect(links.length).toBeGreaterThan(5);
    expect(headings).toEqual(expect.arrayContaining(links));
    for (const name of links) expect(page).toContain(`id="${String(name)}"`);
  });

  test('is linked from /llms.txt by its public address, and every link in /llms.txt works', async () => {
    const root = publicUrl.replace(/\/v1$/, '');
    const linked = [...(await get('/llms.txt')).matchAll(/\]\(([^)]*)\)/g)].map(
      ([, to = '']) => to,
    );
    expect(linked).toContain(`${root}/docs.md`);
    for (const address of linked) await get(address.replace(root, ''));
    expect(await get('/docs')).toMatch(/href="docs\.md".*href="llms\.txt"/s);
  });

  test('can be read without JavaScript', async () => {
    const page = await open({ javaScript: false });
    await page.role('heading', 'Add an animal').isShown();
    expect(await page.exactly('Try it').count()).toBe(0);
    await browser.closePages();
  });

  test('offers "Try it" for every operation but GET /store/orders', async () => {
    const page = await open();
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    expect(await page.role('button').readAll()).toEqual([
      'Send GET /pets',
      'Send POST /pets',
      'Send GET /pets/{petId}',
    ]);
    await browser.closePages();
  });

  test('sends and shows int64 exactly', async () => {
    const page = await open();
    await page.label(/API key/).fill(api.account.key);
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    const added = page.css('form').has('Send POST /pets');
    await added.label(/Body/).fill('{"name":"Rex","categoryId":9007199254740993}');
    await added.label(/Idempotency-Key/).fill('from-the-page');
    await added.role('button').click();
    await added.words('"categoryId": 9007199254740993').isShown();
    const shown = await added.css('output').read();
    expect(shown).toMatch(/^HTTP 201 Created\n/);
    const id = /"id": (\d+)/.exec(shown)?.[1] ?? 'none';
    const one = page.css('form').has('Send GET /pets/{petId}');
    await one.label(/petId/).fill(id);
    await one.role('button').click();
    await one.words('"categoryId": 9007199254740993').isShown();
    const list = page.css('form');
    await list.label(/status/).choose('sold');
    await list.role('button').click();
    const answer = await until('the list is answered', async () => {
      const text: string = await list.css('output').read();
      return text !== '' && text;
    });
    expect(answer).toMatch(/^HTTP 200 OK\n.*\n\[\]$/s);
    await browser.closePages();
  });

  test.each([
    [1280, 'light'],
    [390, 'dark'],
  ] as const)('is accessible at %s pixels, %s', async (width, theme) => {
    const page = await open({ width, theme });
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    await page.evaluate(axe);
    const { violations } = await page.evaluate<AxeResults>('axe.run(document)');
    const faults = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`);
    expect(faults).toEqual([]);
    await browser.closePages();
  });
});

describe('the schemas of webhooks', () => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi('sqlite');
  });
  afterAll(() => api.close());

  test.each(messageTypes)('can be read and cached by anybody: %s', async (type) => {
    const root = publicUrl.replace(/\/v1$/, '');
    const answer = await api.send(`/docs/webhooks/${type}.json`, { key: null });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('Content-Type')).toBe('application/schema+json; charset=utf-8');
    expect(answer.headers.get('Cache-Control')).toBe('public, max-age=3600');
    expect(JSON.parse(answer.text)).toEqual({
      ...payloadDocument(type, root),
      $id: `${root}/docs/webhooks/${type}.json`,
    });
  });

  test('do not exist for an unknown type', async () => {
    const answer = await api.send('/docs/webhooks/domain.lost.json', { key: null });
    expect(answer.status).toBe(404);
  });
});
