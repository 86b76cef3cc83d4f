import { expect, test } from '@jest/globals';
import type { TestPage } from '../support/dashboard/page.ts';
import { DomainsKey, SitesKey } from '../../src/app/keys.ts';
import type { Project } from '../../src/sites/domain/project.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/site-source.ts';

const [shop, www, ascii] = ['shop.birds.test', 'www.birds.test', 'xn--bcher-kva.test'];

const browsed = browseDashboard(() => Promise.resolve());

const domains = () => browsed.dashboard.container.get(DomainsKey);
const sites = () => browsed.dashboard.container.get(SitesKey);

/** The page of somebody whose project has three domains. */
const open = async (javaScript: boolean): Promise<{ page: TestPage; project: Project }> => {
  const { accountId, visitor } = await browsed.dashboard.newOwner();
  const project = await sites().startProject(accountId, 'Birds');
  await deployEntries(browsed.dashboard.container, project, entry('index.html'));
  for (const host of [shop, www, 'bücher.test']) await domains().addDomain(project, host);
  const path = `/dashboard/projects/${project.slug}/settings/domains`;
  return { page: await browsed.visit(path, { javaScript, cookie: visitor.cookie }), project };
};

const says = (page: TestPage, text: string): Promise<void> =>
  page.role('status').exactly(text).isShown();

const press = (page: TestPage, name: string): Promise<void> => page.role('button', name).click();

const stored = async ({ id }: Project): Promise<unknown> =>
  (await domains().showDomainSettings(id)).document.domains;

const ways = [
  ['with scripts', true],
  ['without scripts', false],
] as const;

test.each(ways)(
  'a redirect is added and deleted, and a primary domain chosen, %s',
  async (_, js) => {
    const { page, project } = await open(js);
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
    // It is the row that the page leads to and marks.
    await page.css('tr:target').has(`bücher.test (${ascii})`).isShown();

    await page.label('Primary').fill(www);
    await page.role('button', 'Save').click();
    await says(page, 'Primary domain saved.');
    expect(await stored(project)).toEqual({ primary: www, redirects: [redirect] });

    await press(page, 'Delete');
    await says(page, 'Redirect deleted.');
    expect(await stored(project)).toEqual({ primary: www, redirects: [] });
  },
);

test.each(ways)('a configuration is imported once its mistakes are fixed, %s', async (_, js) => {
  const { page, project } = await open(js);
  const text = page.label('Configuration as YAML or JSON');
  expect(await text.isVisible()).toBe(false);
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
  const yaml = page.role('region', 'YAML');
  expect(await yaml.read()).toContain(`to: ${ascii}`);
});
