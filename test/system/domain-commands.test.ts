import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { json, Shop, type Run, type ShownDomain } from '../lab/shop.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { newHome, type Home } from '../support/service/service-process.ts';

let home: Home;
let run: Run;
let shop: Shop;
beforeAll(async () => {
  home = await newHome(await migratedDatabase('sqlite'));
  const settings = { ALLOW_TEST_DOMAINS: '1', PLATFORM_HOST: 'sites.platform.test' };
  run = (args) => home.run(args, settings);
  const folder = await siteFolder();
  shop = await Shop.open(run, { name: 'pairs', plan: 'pro', folder });
});
afterAll(() => home.remove());

const siteFolder = async (): Promise<string> => {
  const folder = join(home.settings['DATA_DIR'] ?? '', 'site');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'index.html'), '<h1>pairs</h1>\n');
  return folder;
};

const hostOf = ({ host }: { readonly host: string }) => host;
const ofShop = (...args: readonly string[]): readonly string[] => [
  ...['domain', ...args, '--project', shop.slug],
];

test('operators add both names of a pair, and choose which of them is the primary domain', async () => {
  const add = (host: string) =>
    json<ShownDomain & { readonly pair: ShownDomain | null }>(run, ofShop('add', host, '--pair'));
  const both = await add('www.pair.test');
  expect([both, both.pair].map((one) => one?.domain.host)).toEqual(['www.pair.test', 'pair.test']);
  expect(await add('www.co.uk')).toMatchObject({ domain: { host: 'www.co.uk' }, pair: null });
  expect((await shop.tell('add', 'two.test', '--pair')).stdout).toMatch(
    /^two\.test: added[^]*\nwww\.two\.test: added[^]*\nwww\.two\.test redirects to two\.test as soon as both are live\.\n$/,
  );

  expect((await shop.tell('primary')).stdout).toMatch(/^None yet: the first/);
  expect(await shop.tell('primary', 'pair.test')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('it cannot be redirected'),
  });
  expect((await shop.tell('primary', 'WWW.pair.test')).stdout).toBe('www.pair.test\n');
  expect(await json(run, ofShop('primary', '--none'))).toEqual({ primary: null });
  expect((await shop.tell('primary')).stdout).toMatch(/^None, by choice/);
  for (const wrong of [['pair.test', '--none'], ['']])
    expect(await shop.tell('primary', ...wrong)).toMatchObject({ code: 2, stdout: '' });
});

let books: Shop;
const apex = 'xn--bcher-kva.test';
const www = `www.${apex}`;

test('operators list the domains of one project in full, or all domains with their projects', async () => {
  books = await Shop.open(run, { name: 'books', plan: 'pro', folder: await siteFolder() });
  const { domain, records } = await books.add('  BÜCHER.test. ');
  expect(domain).toMatchObject({ host: apex, unicodeHost: 'bücher.test', state: 'added' });
  expect(records).toMatchObject([
    { type: 'ALIAS', name: '@', fqdn: apex, required: true },
    { type: 'TXT', fqdn: `_animal-store-challenge.${apex}`, required: true },
  ]);
  await books.add(www);
  const list = (...project: readonly string[]) =>
    json<{ host: string }[]>(run, ['domain', 'list', ...project]);
  expect((await list('--project', books.slug)).map(hostOf)).toEqual([www, apex]);
  const listed = (await list()).find(({ host }) => host === apex);
  const { domain: own, ...about } = await books.show(apex);
  expect(Object.keys(listed ?? {}).toSorted()).toEqual(
    Object.keys({ ...own, ...about }).toSorted(),
  );
  expect(listed).toMatchObject({ project: books.slug, accountId: books.accountId });
  const { stdout } = await run(['domain', 'list']);
  expect(stdout).toMatch(/^DOMAIN +PROJECT +STATE +PROBLEM\n/);
  expect(stdout).toMatch(/^two\.test +pairs +added, awaiting DNS/m);
});

const inYaml = `domains:
  primary: null
  redirects:
    - from: ${www}
      to: ${apex}
      status: 308
`;

test('settings are imported as YAML or JSON and exported unchanged, with the suspended redirects', async () => {
  const folder = home.settings['DATA_DIR'] ?? '';
  const [yaml, document] = [join(folder, 'domains.yaml'), join(folder, 'domains.json')];
  const suspended = `${www}: Suspended until ${apex} is live.\n`;
  await writeFile(yaml, inYaml);
  expect(await books.tell('config', yaml)).toEqual({ code: 0, stdout: inYaml, stderr: suspended });

  const redirects = [{ from: 'www.bücher.test', to: 'bücher.test' }];
  await writeFile(document, JSON.stringify({ domains: { redirects } }));
  const { code, stdout, stderr } = await books.tell('config', document, '--format', 'json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: suspended });
  expect(JSON.parse(stdout)).toEqual({
    domains: { primary: null, redirects: [{ from: www, to: apex, status: 308 }] },
  });
  expect((await books.tell('config')).stdout).toBe(inYaml);

  await writeFile(yaml, `${inYaml}    - from: ${apex}\n      to: ${www}\n`);
  const loop = await books.tell('config', yaml);
  expect(loop).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('loop') });
  expect((await books.tell('config')).stdout).toBe(inYaml);
});

test('operators create, list and revoke links to a domain for people without an account', async () => {
  const share = <T>(...args: readonly string[]) =>
    json<T>(run, ofShop('share', 'two.test', ...args));
  const { id, url } = await share<{ readonly id: string; readonly url: string }>();
  const listed = await share('--list');
  expect(listed).toEqual([expect.objectContaining({ id })]);
  expect(JSON.stringify(listed)).not.toContain(url.replace(/.*\//, ''));
  expect(await share('--end', id)).toMatchObject({ id });
  expect(await shop.tell('share', 'two.test', '--end', id)).toMatchObject({
    code: 1,
    stderr: `animal-store: two.test has no link ${id} that works.\n`,
  });
  expect((await shop.tell('share', 'two.test', '--list')).stdout).toMatch(
    /^There are no working links/,
  );
  expect((await shop.tell('share', 'two.test')).stdout).toMatch(/shown this once; it works until/);
  expect(await shop.tell('share', 'two.test', '--list', '--end', id)).toMatchObject({
    code: 2,
  });
});
