import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { goLive } from '../lab/going-live.ts';
import type { SecureVisitor } from '../lab/secure-visitor.ts';
import { json, type Shop } from '../lab/shop.ts';
import type { ShownDomain } from '../lab/shown-domain.ts';
import type { Service } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';

/** All are validated over HTTP: where a name leads does not depend on how its certificate was validated. */
const apex = 'xn--bcher-kva.test';
const www = `www.${apex}`;

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
let visitor: SecureVisitor;
let service: Service;
beforeAll(async () => {
  clock = await newFakeClock();
  lab = await openDomainLab('sqlite', {}, clock.settings);
  shop = await lab.openShop('books');
  service = await lab.start();
  visitor = await lab.visitor();
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

test('an internationalised apex goes live by ALIAS and TXT', async () => {
  const { domain, records } = await shop.add('  BÜCHER.test. ');
  expect(domain).toMatchObject({ host: apex, unicodeHost: 'bücher.test', state: 'added' });
  const [alias, txt] = records;
  expect([alias, txt]).toMatchObject([
    { type: 'ALIAS', name: '@', fqdn: apex, required: true },
    { type: 'TXT', fqdn: `_animal-store-challenge.${apex}`, required: true },
  ]);
  lab.zone.create(alias);
  const { problems } = await shop.verify('bücher.test');
  expect(problems).toMatchObject([{ code: 'ownership_txt_missing', severity: 'blocking' }]);
  lab.zone.create(txt);
  await clock.advance(11);
  expect(await shop.verify(apex)).toMatchObject({ domain: { state: 'verified' }, problems: [] });
  await goLive({ lab, clock }, apex);
  await until('the apex is the primary domain', async () =>
    (await shop.tell('config')).stdout.includes(`primary: ${apex}`),
  );
});

const inYaml = `domains:
  primary: ${apex}
  redirects:
    - from: ${www}
      to: ${apex}
      status: 308
`;
const inJson = {
  domains: { primary: apex, redirects: [{ from: www, to: apex, status: 308 }] },
};

test('a redirect to a domain that is not live is suspended, says so, and the site is served instead', async () => {
  const { records } = await shop.add(www);
  lab.zone.create(records[0]);
  const file = `${lab.folder}/domains.json`;
  const redirects = [{ from: 'bücher.test', to: 'www.bücher.test' }];
  await writeFile(file, JSON.stringify({ domains: { redirects } }));
  const { code, stdout, stderr } = await shop.tell('config', file, '--format', 'json');
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `${apex}: Suspended until ${www} is live.\n`,
  });
  expect(JSON.parse(stdout)).toEqual({
    domains: { primary: null, redirects: [{ from: apex, to: www, status: 308 }] },
  });
  expect(await visitor.get(apex)).toMatchObject({ status: 200, body: '<h1>books</h1>\n' });

  await shop.verify(www);
  await goLive({ lab, clock }, www);
  const target = `https://${www}/shop?q=a%20b&q=c`;
  await until('the apex leads to www', async () => {
    const { status, headers } = await visitor.get(apex, '/shop?q=a%20b&q=c');
    return status === 308 && headers.location === target;
  });
});

test('operators list the domains of one project, or of all, with their projects', async () => {
  const other = await lab.openShop('toys');
  await other.add('toys.test');
  const host = ({ host }: { readonly host: string }) => host;
  const list = (...project: string[]) =>
    json<{ host: string }[]>(lab.run, ['domain', 'list', ...project]);
  expect((await list('--project', shop.slug)).map(host)).toEqual([www, apex]);
  const all = await list();
  expect(all.map(host).toSorted()).toEqual(['toys.test', www, apex].toSorted());
  expect(all.find(({ host }) => host === 'toys.test')).toMatchObject({
    project: other.slug,
    accountId: other.accountId,
  });
  const { stdout } = await lab.run(['domain', 'list']);
  expect(stdout).toMatch(/^DOMAIN +PROJECT +STATE +PROBLEM\n/);
  expect(stdout).toMatch(/^toys\.test +toys +added, awaiting DNS/m);
});

test('the list shows each domain in full, but only the end of its timeline', async () => {
  const { domain, timeline, ...about } = await shop.show(apex);
  const listed = await json<ShownDomain['domain'][]>(lab.run, ['domain', 'list']);
  const entry = listed.find(({ host }) => host === apex);
  expect(Object.keys(entry ?? {}).toSorted()).toEqual(
    [...Object.keys({ ...domain, ...about }), 'timeline'].toSorted(),
  );
  expect(timeline.length).toBeGreaterThan(5);
  expect(entry).toMatchObject({ records: about.records, timeline: timeline.slice(0, 5) });
});

test('settings go in as YAML and come out as they went in, and www leads to the apex with path and query', async () => {
  const file = `${lab.folder}/domains.yaml`;
  await writeFile(file, inYaml);
  expect(await shop.tell('config', file)).toEqual({ code: 0, stdout: inYaml, stderr: '' });
  const shown = await shop.tell('config', '--format', 'json');
  expect(JSON.parse(shown.stdout)).toEqual(inJson);
  const lead = await until('www leads to the apex', async () => {
    const visit = await visitor.get(www, '/a/b?c=1&d=%2F');
    return visit.status === 308 && visit;
  });
  expect(lead.headers.location).toBe(`https://${apex}/a/b?c=1&d=%2F`);
  const home = await visitor.get(apex);
  expect(home).toMatchObject({ status: 200, body: '<h1>books</h1>\n' });
  expect(home.serial).not.toBe(lead.serial);
});

test('settings with a loop or an external address are refused as a whole', async () => {
  const file = `${lab.folder}/wrong.yaml`;
  const back = `    - from: ${apex}\n      to: ${www}\n`;
  await writeFile(file, inYaml.replace(`primary: ${apex}`, 'primary: null') + back);
  const loop = await shop.tell('config', file);
  expect(loop).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('loop') });
  expect((await shop.tell('config')).stdout).toBe(inYaml);
});

/** Where nothing goes live. */
let pairs: Shop;

test('operators add both names of a pair, and choose which of them is the primary domain', async () => {
  pairs = await lab.openShop('pairs');
  const { slug } = pairs;
  const add = (host: string) =>
    json<ShownDomain & { readonly pair: ShownDomain | null }>(lab.run, [
      ...['domain', 'add', host, '--pair', '--project', slug],
    ]);
  const both = await add('www.pair.test');
  expect([both, both.pair].map((one) => one?.domain.host)).toEqual(['www.pair.test', 'pair.test']);
  expect(await add('www.co.uk')).toMatchObject({ domain: { host: 'www.co.uk' }, pair: null });
  expect((await pairs.tell('add', 'two.test', '--pair')).stdout).toMatch(
    /^two\.test: added[^]*\nwww\.two\.test: added[^]*\nwww\.two\.test redirects to two\.test as soon as both are live\.\n$/,
  );

  expect((await pairs.tell('primary')).stdout).toMatch(/^None yet: the first/);
  expect(await pairs.tell('primary', 'pair.test')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('it cannot be redirected'),
  });
  expect((await pairs.tell('primary', 'WWW.pair.test')).stdout).toBe('www.pair.test\n');
  expect(await json(lab.run, ['domain', 'primary', '--none', '--project', slug])).toEqual({
    primary: null,
  });
  expect((await pairs.tell('primary')).stdout).toMatch(/^None, as was chosen/);
  for (const wrong of [['pair.test', '--none'], ['']])
    expect(await pairs.tell('primary', ...wrong)).toMatchObject({ code: 2, stdout: '' });
});

test('operators make links to a domain for people without an account, list them and end them', async () => {
  const { slug } = pairs;
  await pairs.add('linked.test');
  const share = <T>(...args: string[]) =>
    json<T>(lab.run, ['domain', 'share', 'linked.test', ...args, '--project', slug]);
  const { id, url } = await share<{ readonly id: string; readonly url: string }>();
  const statusOf = async () => (await fetch(new URL(new URL(url).pathname, service.origin))).status;
  expect(await statusOf()).toBe(200);
  const listed = await share('--list');
  expect(listed).toEqual([expect.objectContaining({ id })]);
  expect(JSON.stringify(listed)).not.toContain(url.replace(/.*\//, ''));
  expect(await share('--end', id)).toMatchObject({ id });
  expect(await statusOf()).toBe(404);
  expect(await pairs.tell('share', 'linked.test', '--end', id)).toMatchObject({
    code: 1,
    stderr: `animal-store: linked.test has no link ${id} that works.\n`,
  });
  expect((await pairs.tell('share', 'linked.test', '--list')).stdout).toMatch(/^No links/);
  expect((await pairs.tell('share', 'linked.test')).stdout).toMatch(
    /shown this once; it works until/,
  );
  expect(await pairs.tell('share', 'linked.test', '--list', '--end', id)).toMatchObject({
    code: 2,
  });
});
