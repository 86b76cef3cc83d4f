import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DomainsKey, SitesKey } from '../../src/app/keys.ts';
import type { CustomDomain } from '../../src/domains/domain/attachment/custom-domain.ts';
import type { Project } from '../../src/sites/domain/project.ts';
import { AuthorityLedger } from '../../src/domains/certificate-ports.ts';
import { elementsIn, textOf } from '../support/dashboard/markup.ts';
import { pointAtUs } from '../support/dashboard/domains.ts';
import { facts, records } from '../support/domains/known-dns.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/site-source.ts';

const ascii = 'xn--bcher-kva.test';
const both = `bücher.test (${ascii})`;

let dashboard: RunningDashboard;
let owner: Owner;
let project: Project;
let path: string;
beforeAll(async () => {
  dashboard = await startDashboard();
  owner = await dashboard.newOwner();
  const sites = dashboard.container.get(SitesKey);
  const domains = dashboard.container.get(DomainsKey);
  project = await sites.startProject(owner.accountId, 'Books');
  path = `/dashboard/projects/${project.slug}/settings/domains`;
  await deployEntries(dashboard.container, project, entry('index.html'));
  await add('bücher.test');
  await add('www.bücher.test');
  await domains.removeDomain(await add('gone.bücher.test'));
  const redirects = [{ from: 'bücher.test', to: 'www.bücher.test' }];
  await domains.changeDomainSettings(project.id, { primary: 'www.bücher.test', redirects });
});
afterAll(() => dashboard.close());

const add = (name: string): Promise<CustomDomain> =>
  dashboard.container.get(DomainsKey).addDomain(project, name);

const markupOf = async (below = ''): Promise<string> =>
  (await owner.visitor.get(path + below)).text;

const pathOf = (what: 'redirects' | 'configuration'): string =>
  `/dashboard/projects/${project.slug}/settings/${what}`;

const hints = ['up to 48 hours', 'lower their TTL first', 'A CAA record that blocks'];

test.each([
  ['an apex', ascii, true],
  ['a subdomain', `www.${ascii}`, false],
])('the records of %s that was just added are shown with their hints', async (_, host, isApex) => {
  const markup = await markupOf(`?added=${host}`);
  const text = textOf(markup);
  for (const hint of hints) expect(text).toContain(hint);
  expect(text.includes('not every provider supports it')).toBe(isApex);
  expect(text.includes('An apex domain cannot have a CNAME')).toBe(isApex);
  const [, anchor = ''] = /href="#(verify-[^"]+)"/.exec(markup) ?? [];
  expect(elementsIn(markup, 'form').map(({ attributes }) => attributes['id'])).toContain(anchor);
});

test('domains come first, then removed domains, then rarely used settings', async () => {
  const headings = elementsIn(await markupOf(), 'h2').map(({ text }) => text);
  expect(headings).toEqual(['Domains', 'Removed', 'Redirects', 'Configuration']);
});

test('redirects show U-labels beside the A-labels, and empty fields look empty', async () => {
  const markup = await markupOf();
  const row = elementsIn(markup, 'tr').find(({ attributes }) =>
    attributes['id']?.startsWith('redirect-'),
  );
  expect(row?.text).toContain(`${both} www.bücher.test (www.${ascii}) 308`);
  const offered = elementsIn(markup, 'option').map(({ attributes }) => attributes);
  expect(offered).toContainEqual({ value: ascii, label: 'bücher.test' });
  const fields = elementsIn(markup, 'input').map(({ attributes }) => attributes);
  const [from, to, primary] = ['from', 'to', 'primary'].map((name) =>
    fields.find((one) => one['name'] === name),
  );
  expect([from, to, primary]).toMatchObject([{ type: 'text' }, { type: 'text' }, { type: 'text' }]);
  expect([from?.['placeholder'], to?.['placeholder']]).toEqual([undefined, undefined]);
});

test('a refused redirect names domains by their U-labels', async () => {
  const redirect = { once: 'only-in-this-test', from: ascii, to: ascii, status: '308' };
  const { status, text } = await owner.visitor.post(pathOf('redirects'), redirect);
  expect(status).toBe(422);
  expect(textOf(text)).toContain(`${both} is redirected more than once.`);
});

test('the import form is collapsed, and opens with the reason after a refusal', async () => {
  expect(await markupOf()).toMatch(/<details id="import" *>/);
  const settings = 'domains: { redirects: [{ from: a }] }';
  const { text } = await owner.visitor.post(pathOf('configuration'), { settings });
  expect(text).toMatch(/<details id="import" open>/);
  expect(textOf(text)).toContain('domains.redirects[0].to is missing. It must be a domain of');
});

test('the summary is shown once above the problems, and the expected values can be copied', async () => {
  const wrong = await add('wrong.bücher.test');
  dashboard.dns.tell(wrong.host, facts({ cname: records('elsewhere.test') }));
  await dashboard.container.get(DomainsKey).verifyDomain(wrong);
  const markup = await markupOf(`/${wrong.host}`);
  expect(textOf(markup)).toContain('The DNS is not correct yet. Fix the problem below;');
  const [problem = ''] = /<article[^]*?<\/article>/.exec(markup) ?? [];
  const [copy] = elementsIn(problem, 'button');
  expect(copy?.attributes['data-copy']).toBe(`${wrong.token}.sites.animal-store.test`);
});

test('the list shows when the certificate of a domain waits for a limit', async () => {
  const domains = dashboard.container.get(DomainsKey);
  const waiting = await add('waits.bücher.test');
  pointAtUs(dashboard, waiting);
  const ledger = dashboard.container.get(AuthorityLedger);
  for (let order = 0; order < 10; order++) {
    const { accountId, host, registrableDomain } = waiting;
    const name = { accountId, host: `${order}.${host}`, registrableDomain };
    const asked = { orderKey: String(order), occurredAt: dashboard.clock.now() };
    await ledger.settle({ entered: [{ ...name, ...asked, kind: 'order', isManual: false }] });
  }
  await domains.tendDomain(await domains.verifyDomain(waiting));
  const row = elementsIn(await markupOf(), 'tr').find(({ text }) => text.includes('waits.bücher'));
  expect(row?.text).toMatch(/Certificate waits: .*hour.* next attempt in 1 hour/);
});

test('removed domains are listed last, the newest three visible and the others collapsed', async () => {
  const domains = dashboard.container.get(DomainsKey);
  for (const name of ['a', 'b', 'c']) {
    dashboard.clock.advance(1000);
    await domains.removeDomain(await add(`${name}.bücher.test`));
  }
  const [sight = '', folded = ''] = (await markupOf()).split('<details id="removed-earlier">');
  for (const name of ['a', 'b', 'c']) expect(sight).toContain(`>${name}.bücher.test`);
  expect(textOf(folded)).toContain('1 domain removed earlier');
  expect(textOf(folded)).toContain('gone.bücher.test');
});

test('the page says to create the records of a new domain, and later to keep them', async () => {
  const domains = dashboard.container.get(DomainsKey);
  const domain = await add('kept.bücher.test');
  pointAtUs(dashboard, domain);
  expect(textOf(await markupOf(`/${domain.host}`))).toContain('Create them at');
  await domains.verifyDomain(domain);
  const text = textOf(await markupOf(`/${domain.host}`));
  expect(text).toContain('Keep them at');
  expect(text).not.toContain('Create them at');
});

test('a healthy domain shows nothing to do', async () => {
  const domains = dashboard.container.get(DomainsKey);
  const domain = await add('live.bücher.test');
  pointAtUs(dashboard, domain);
  // The orders of the test before count for an hour.
  dashboard.clock.advance(2 * 3_600_000);
  await domains.tendDomain(await domains.verifyDomain(domain));
  const text = textOf(await markupOf(`/${domain.host}`));
  expect(text).toContain('To do Nothing');
  expect(text).not.toContain('Who acts');
});
