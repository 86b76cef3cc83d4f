import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { fill } from '../support/dashboard/filling.ts';
import { until } from '../support/until.ts';

const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

/** Every page, with something on it. PROJECT is where the project is that has everything. */
const pages = {
  projects: '/dashboard',
  'a project': 'PROJECT',
  'a project without a deploy': '/dashboard/projects/not-published-yet',
  domains: 'PROJECT/settings/domains',
  'no domains yet': '/dashboard/projects/not-published-yet/settings/domains',
  'a live domain': 'PROJECT/settings/domains/www.birds.test',
  'a domain whose DNS is wrong': 'PROJECT/settings/domains/wrong.birds.test',
  'a domain that was never checked': 'PROJECT/settings/domains/birds.test',
  'a removed domain': 'PROJECT/settings/domains/gone.birds.test',
  'the removal of a domain': 'PROJECT/settings/domains/www.birds.test/remove',
  'API keys': '/dashboard/keys',
  'usage by the hour': '/dashboard/usage',
  'usage by the day': '/dashboard/usage?range=30d',
  animals: '/dashboard/animals',
  'animals that are sold': '/dashboard/animals?status=sold',
  account: '/dashboard/account',
  'the choice of an account': '/dashboard/accounts',
  'what is not there': '/dashboard/nowhere',
} as const;

let page: Page;
let project: string;
const browsed = browseDashboard(
  async (all) => {
    project = `/dashboard/projects/${await fill(all.dashboard, all.owner, 'birds.test')}`;
    page = await all.visit('/dashboard');
  },
  { keepsPages: true },
);

const urlOf = (path: string): string => browsed.dashboard.origin + path.replace('PROJECT', project);

/** What axe finds serious or critical, in words that say where. @param rules all, if none are named */
const faultsOf = async (...rules: readonly string[]): Promise<readonly string[]> => {
  const chosen = rules.length > 0 && { runOnly: { type: 'rule', values: rules } };
  const options = JSON.stringify({ resultTypes: ['violations'], ...chosen });
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${options})`);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, target }) => `${id}: ${String(target)} ${html}`),
    );
};

const overflows = (): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > innerWidth');

/** All rules on a desk and on a phone; by day and by night only colours differ. */
const looksWell = async (): Promise<void> => {
  await page.evaluate(axe);
  await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
  for (const [width, first, second] of [
    [1280, 'light', 'dark'],
    [390, 'dark', 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 844 });
    await until('the page is so wide', async () => (await page.evaluate('innerWidth')) === width);
    await page.emulateMedia({ colorScheme: first });
    expect({ width, overflows: await overflows() }).toEqual({ width, overflows: false });
    expect({ width, first, faults: await faultsOf() }).toEqual({ width, first, faults: [] });
    await page.emulateMedia({ colorScheme: second });
    const faults = await faultsOf('color-contrast');
    expect({ width, second, faults }).toEqual({ width, second, faults: [] });
  }
};

describe.each(Object.entries(pages))('%s', (_, path) => {
  test('is accessible on a desktop and a phone, in light and dark mode', async () => {
    await page.goto(urlOf(path));
    await looksWell();
  });
});

test('the results of forms, and refused forms, are accessible too', async () => {
  await page.goto(urlOf('/dashboard/keys'));
  await page.getByLabel('Key name').fill('Till');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('It is not shown again').waitFor();
  await looksWell();
  await page.goto(urlOf('/dashboard/account'));
  await page.getByRole('button', { name: 'New link' }).first().click();
  await page.getByText('/dashboard/sign-in/').waitFor();
  await looksWell();
  await page.goto(urlOf('PROJECT/settings/domains'));
  await page.getByLabel('Domain', { exact: true }).fill('localhost');
  await page.getByRole('button', { name: 'Add domain' }).click();
  await page.locator('[aria-invalid]').waitFor();
  await looksWell();
});

test.each(['/dashboard/sign-in', '/dashboard/sign-in/made-up'])(
  '%s is accessible too',
  async (path) => {
    page = await browsed.visit(path, { cookie: undefined });
    await looksWell();
  },
);

test('the page that asks before a link signs in is accessible too', async () => {
  const { dashboard, owner } = browsed;
  const { cookie } = await dashboard.signIn(owner.email);
  page = await browsed.visit(await dashboard.linkFor(owner.email), { cookie });
  await page.getByRole('heading', { name: 'Sign in to' }).waitFor();
  await looksWell();
});
