import { beforeAll, describe, expect, test } from '@jest/globals';
import { DomainsKey, SitesKey } from '../../src/app/keys.ts';
import type { Project } from '../../src/sites/domain/project.ts';
import { press } from '../support/dashboard/clicking-owner.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { pointAtUs } from '../support/dashboard/filling.ts';
import { elementsIn, problemsIn, textOf } from '../support/dashboard/markup.ts';
import type { TestPage } from '../support/dashboard/page.ts';
import type { Owner } from '../support/dashboard/running-dashboard.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/sites.ts';

const [shop, www, ascii] = ['shop.birds.test', 'www.birds.test', 'xn--bcher-kva.test'];

const browsed = browseDashboard(() => Promise.resolve());

const domains = () => browsed.dashboard.container.get(DomainsKey);
const sites = () => browsed.dashboard.container.get(SitesKey);

const open = async (): Promise<{ page: TestPage; project: Project }> => {
  const { accountId, visitor } = await browsed.dashboard.newOwner();
  const project = await sites().startProject(accountId, 'Birds');
  await deployEntries(browsed.dashboard.container, project, entry('index.html'));
  for (const host of [shop, www, 'bücher.test']) await domains().addDomain(project, host);
  const path = `/dashboard/projects/${project.slug}/settings/redirects`;
  return {
    page: await browsed.visit(path, { javaScript: false, cookie: visitor.cookie }),
    project,
  };
};

const says = (page: TestPage, text: string): Promise<void> =>
  page.role('status').exactly(text).isShown();

const stored = async ({ id }: Project): Promise<unknown> =>
  (await domains().showDomainSettings(id)).document.domains;

test('a redirect can be added and deleted, and a primary domain chosen', async () => {
  const { page, project } = await open();
  await page.label('From').fill(shop);
  await page.label('To').fill(shop);
  await press(page, 'Add redirect');
  await page.words(`${shop} cannot redirect to itself.`).isShown();
  expect(await page.label('From').read('value')).toBe(shop);

  await page.label('To').fill('bücher.test');
  await page.label('Status').choose('302');
  await press(page, 'Add redirect');
  await says(page, 'Redirect added.');
  const redirect = { from: shop, to: ascii, status: 302 };
  expect(await stored(project)).toEqual({ redirects: [redirect] });
  await page.css('tr:target').has(`bücher.test (${ascii})`).isShown();

  await page.label('Primary').fill(www);
  await page.role('button', 'Save').click();
  await says(page, 'Primary domain saved.');
  expect(await stored(project)).toEqual({ primary: www, redirects: [redirect] });

  await press(page, 'Delete');
  await says(page, 'Redirect deleted.');
  expect(await stored(project)).toEqual({ primary: www, redirects: [] });
});

test('a configuration is imported once its mistakes are fixed', async () => {
  const { page, project } = await open();
  await page.role('link', 'Settings').click();
  const text = page.label('Configuration as YAML or JSON');
  expect(await text.isVisible()).toBe(false);
  await page.role('heading', 'Configuration').click();
  await page.words('Import a configuration').click();
  const lines = ['domains:', `  primary: ${www}`, '  redirects:', `    - from: ${shop}`];
  await text.fill(lines.join('\n'));
  await press(page, 'Import');
  await page.words('domains.redirects[0].to is missing.').isShown();
  expect(await text.read('value')).toContain(shop);

  await text.fill([...lines, `      to: ${ascii}`].join('\n'));
  await press(page, 'Import');
  await says(page, 'Configuration imported.');
  const redirects = [{ from: shop, to: ascii, status: 308 }];
  expect(await stored(project)).toEqual({ primary: www, redirects });
  await page.role('heading', 'Configuration').click();
  const yaml = page.role('region', 'YAML');
  expect(await yaml.read()).toContain(`to: ${ascii}`);
});

describe('the domains of a project', () => {
  const [first, second] = ['shop.parrots.test', 'www.parrots.test'];
  let owner: Owner;
  let path: string;
  let project: Project;
  beforeAll(async () => {
    const { dashboard } = browsed;
    owner = await dashboard.newOwner();
    project = await sites().startProject(owner.accountId, 'Birds');
    await deployEntries(dashboard.container, project, entry('index.html'));
    for (const host of [first, second]) {
      const domain = await domains().addDomain(project, host);
      pointAtUs(dashboard, domain);
      await domains().tendDomain(await domains().verifyDomain(domain));
    }
    const redirects = [{ from: second, to: first }];
    await domains().changeDomainSettings(project.id, { primary: first, redirects });
    path = `/dashboard/projects/${project.slug}/settings`;
  });

  test('a live domain that redirects names its target, and does not claim to serve the site', async () => {
    const { text } = await owner.visitor.get(`${path}/domains/${second}`);
    expect(textOf(text)).toContain(`Visitors are redirected to ${first}.`);
    expect(textOf(text)).not.toContain('Your site is served');
    const other = await owner.visitor.get(`${path}/domains/${first}`);
    expect(textOf(other.text)).toContain('Your site is served over HTTPS.');
  });

  test('a domain that redirects to the primary domain becomes primary in one step', async () => {
    const { text } = await owner.visitor.get(`${path}/domains`);
    const buttons = elementsIn(text, 'form').filter((one) => one.text === 'Make primary');
    const [{ action = '' } = {}, ...more] = buttons.map(({ attributes }) => attributes);
    expect(more).toEqual([]);
    const { status } = await owner.visitor.post(action, { primary: second });
    expect(status).toBe(303);
    expect(await stored(project)).toEqual({
      primary: second,
      redirects: [{ from: first, to: second, status: 308 }],
    });
  });

  test.each([
    ['from', { from: 'gone.test', to: first }],
    ['from', { from: first, to: 'https://parrots.test' }],
    ['to', { from: second, to: 'gone.test' }],
  ])('a redirect with an invalid %s is refused next to that field', async (field, redirect) => {
    const sent = { once: 'only-in-this-test', status: '308', ...redirect };
    const { text } = await owner.visitor.post(`${path}/redirects`, sent);
    expect(Object.keys(problemsIn(text))).toEqual([field]);
  });

  test.each([
    [' WWW.Example.co.uk. ', 'example.co.uk'],
    ['bücher.de', 'www.bücher.de'],
    ['shop.example.com', ''],
    ['www.com', ''],
    ['*.example.com', ''],
    ['https://example.com', ''],
  ])('after typing %s, the checkbox offers %j', async (name, other) => {
    const asked = await owner.visitor.get(`/dashboard/other-name?name=${encodeURIComponent(name)}`);
    expect(asked.text).toBe(other);
  });
});
