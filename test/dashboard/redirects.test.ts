import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
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
const open = async (javaScript: boolean): Promise<{ page: Page; project: Project }> => {
  const { accountId, visitor } = await browsed.dashboard.newOwner();
  const project = await sites().startProject(accountId, 'Birds');
  await deployEntries(browsed.dashboard.container, project, entry('index.html'));
  for (const host of [shop, www, 'bücher.test']) await domains().addDomain(project, host);
  const path = `/dashboard/projects/${project.slug}/settings/domains`;
  return { page: await browsed.visit(path, { javaScript, cookie: visitor.cookie }), project };
};

const says = (page: Page, text: string): Promise<void> =>
  page.getByRole('status').getByText(text, { exact: true }).waitFor();

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

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
    await page.getByLabel('From', { exact: true }).fill(shop);
    await page.getByLabel('To', { exact: true }).fill(shop);
    await press(page, 'Add redirect');
    await page.getByText(`${shop} cannot redirect to itself.`).waitFor();
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe(shop);

    await page.getByLabel('To', { exact: true }).fill('bücher.test');
    await page.getByLabel('Status', { exact: true }).selectOption('302');
    await press(page, 'Add redirect');
    await says(page, 'Redirect added.');
    const redirect = { from: shop, to: ascii, status: 302 };
    expect(await stored(project)).toEqual({ redirects: [redirect] });
    // It is the row that the page leads to and marks.
    await page.locator('tr:target', { hasText: `bücher.test (${ascii})` }).waitFor();

    await page.getByLabel('Primary', { exact: true }).fill(www);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await says(page, 'Primary domain saved.');
    expect(await stored(project)).toEqual({ primary: www, redirects: [redirect] });

    await press(page, 'Delete');
    await says(page, 'Redirect deleted.');
    expect(await stored(project)).toEqual({ primary: www, redirects: [] });
  },
);

test.each(ways)('a configuration is imported once its mistakes are fixed, %s', async (_, js) => {
  const { page, project } = await open(js);
  const text = page.getByLabel('Configuration as YAML or JSON', { exact: true });
  expect(await text.isVisible()).toBe(false);
  await page.getByText('Import a configuration').click();
  const lines = ['domains:', `  primary: ${www}`, '  redirects:', `    - from: ${shop}`];
  await text.fill(lines.join('\n'));
  await press(page, 'Import');
  await page.getByText('domains.redirects[0].to is missing.').waitFor();
  expect(await text.inputValue()).toContain(shop);

  await text.fill([...lines, `      to: ${ascii}`].join('\n'));
  await press(page, 'Import');
  await says(page, 'Configuration imported.');
  const redirects = [{ from: shop, to: ascii, status: 308 }];
  expect(await stored(project)).toEqual({ primary: www, redirects });
  const yaml = page.getByRole('region', { name: 'YAML', exact: true });
  expect(await yaml.innerText()).toContain(`to: ${ascii}`);
});
