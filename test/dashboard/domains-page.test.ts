import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
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
const platformHost = 'sites.animal-store.test';
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

describe('a name and its www name', () => {
  let owns: Owner;
  let shop: Project;
  beforeEach(async () => {
    owns = await dashboard.newOwner();
    shop = await dashboard.container.get(SitesKey).startProject(owns.accountId, 'Shop');
    await deployEntries(dashboard.container, shop, entry('index.html'));
  });
  const page = () => `/dashboard/projects/${shop.slug}/settings/domains`;
  const send = (form: Readonly<Record<string, string>>, once = 'only-in-this-test') =>
    owns.visitor.post(page(), { once, ...form });
  const stored = async () => {
    const domains = dashboard.container.get(DomainsKey);
    const all = await domains.listDomains(shop.id);
    return [
      all.map(({ host }) => host),
      (await domains.showDomainSettings(shop.id)).document.domains.redirects.length,
    ];
  };
  const boxIn = (markup: string) =>
    elementsIn(markup, 'input').find(({ attributes }) => attributes['name'] === 'pair')?.attributes;

  test('are added together from a ticked box, once, however often the form is sent', async () => {
    expect(boxIn((await owns.visitor.get(page())).text)).toMatchObject({ checked: '' });
    const form = { domain: 'bücher.test', pair: 'yes' };
    const [first, second] = [await send(form), await send(form)];
    expect(first.location).toContain(`${page()}?added=${ascii}&with=www.${ascii}&done=added.`);
    expect(second.location).toBe(first.location);
    expect(await stored()).toEqual([[ascii, `www.${ascii}`], 1]);
    // Another tab shows another form.
    const refused = await send(form, 'in-the-other-tab');
    expect(refused.status).toBe(422);
    expect(textOf(refused.text)).toContain(`${both} is in the list of this project already.`);
    expect(boxIn(refused.text)).toMatchObject({ checked: '' });
    expect(await stored()).toEqual([[ascii, `www.${ascii}`], 1]);
  });

  test('come alone without the box, which stays unticked when the name is refused', async () => {
    const refused = await send({ domain: 'localhost' });
    expect(boxIn(refused.text)).not.toHaveProperty('checked');
    const { location } = await send({ domain: 'bücher.test' }, 'the-corrected-form');
    expect(location).toContain(`${page()}?added=${ascii}&done=added.`);
    expect(await stored()).toEqual([[ascii], 0]);
  });

  test('stay in sight while one of them is verified', async () => {
    await send({ domain: 'shop.test', pair: 'yes' });
    const { text } = await owns.visitor.get(`${page()}?added=shop.test&with=www.shop.test`);
    const actions = elementsIn(text, 'form').map(({ attributes }) => attributes['action']);
    const verify = actions.find((one) => one?.includes('www.shop.test/verify')) ?? '';
    expect((await owns.visitor.post(verify, {})).location).toMatch(
      /\?host=www\.shop\.test&with=shop\.test&done=not-yet\./,
    );
    const after = await owns.visitor.get(
      `${page()}?host=www.shop.test&with=shop.test&done=not-yet`,
    );
    expect(textOf(after.text)).toContain('Records to create for www.shop.test and shop.test');
    expect(textOf(after.text)).toContain('www.shop.test redirects to shop.test as soon as both');
  });

  test('are added without a redirect where another one is in the way, and the page says why', async () => {
    const domains = dashboard.container.get(DomainsKey);
    await domains.addDomain(shop, 'old.test');
    const redirects = [{ from: 'old.test', to: 'https://www.shop.test' }];
    await domains.changeDomainSettings(shop.id, { redirects });
    const { location = '' } = await send({ domain: 'shop.test', pair: 'yes' });
    expect(textOf((await owns.visitor.get(location)).text)).toContain(
      'www.shop.test does not redirect to shop.test: www.shop.test is redirected itself. Redirect old.test to shop.test instead.',
    );
    expect(await stored()).toEqual([['shop.test', 'www.shop.test', 'old.test'], 1]);
  });
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
    const authority = 'local';
    const name = { authority, accountId, host: `${order}.${host}`, registrableDomain };
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

test('the project page says which limit the certificate of its own address waits for, and until when', async () => {
  const page = async () =>
    textOf((await owner.visitor.get(`/dashboard/projects/${project.slug}`)).text);
  expect(await page()).not.toContain('has no certificate yet');
  const ledger = dashboard.container.get(AuthorityLedger);
  const { accountId } = await dashboard.newOwner();
  const occurredAt = dashboard.clock.now();
  const entered = Array.from({ length: 20 }, (_, at) => ({
    ...{ authority: 'local', accountId, host: `${String(at)}.${platformHost}` },
    ...{ registrableDomain: platformHost, orderKey: `own ${String(at)}`, occurredAt },
    ...({ kind: 'own', isManual: false } as const),
  }));
  await ledger.settle({ entered });
  expect(await page()).toMatch(
    /sites\.animal-store\.test\S* has no certificate yet, because a limit is reached: 20 new certificates for projects' own hosts in 7 days, .* It is ordered automatically, from \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC on\./,
  );
});
