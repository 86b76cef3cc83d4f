import { expect, test } from '@jest/globals';
import { AccessKey, DomainsKey, SitesKey } from '../../src/app/keys.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { pointAtUs } from '../support/dashboard/domains.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/site-source.ts';
import { until } from '../support/until.ts';
import { zipOf } from '../support/sites/zip-bytes.ts';
import { SystemClock } from '../../src/adapters/system/system-clock.ts';

let slug: string;
const browsed = browseDashboard(async ({ dashboard, owner }) => {
  const sites = dashboard.container.get(SitesKey);
  const project = await sites.startProject(owner.accountId, 'Birds');
  await deployEntries(dashboard.container, project, entry('index.html'));
  ({ slug } = project);
});

const domains = () => browsed.dashboard.container.get(DomainsKey);
const sites = () => browsed.dashboard.container.get(SitesKey);
const addDomain = async (host: string) =>
  domains().addDomain((await sites().getSite(slug)).project, host);
const archive = (name = 'index.html') => ({
  ...{ name: 'site.zip', mimeType: 'application/zip', buffer: zipOf([{ name }]) },
});

test('a live page updates itself and leaves typed text and opened parts alone', async () => {
  const domain = await addDomain('www.birds.test');
  const page = await browsed.visit(`/dashboard/projects/${slug}/settings/domains`);
  const row = page.getByRole('row', { name: 'www.birds.test' }).first();
  await row.getByText('added, awaiting DNS').waitFor();
  const field = page.getByRole('textbox', { name: 'Domain', exact: true });
  const status = page.getByRole('combobox', { name: 'Status' });
  await field.pressSequentially('shop.bi');
  await page.evaluate('window.isSame = true');
  pointAtUs(browsed.dashboard, domain);
  await domains().verifyDomain(domain);
  await row.getByText('verified', { exact: true }).waitFor();
  await field.pressSequentially('rds.test');
  await field.blur();
  await status.selectOption('302');
  await domains().tendDomain(await domains().getDomain(domain.projectId, domain.host));
  await row.getByText('live', { exact: true }).waitFor();
  expect(await field.inputValue()).toBe('shop.birds.test');
  expect(await status.inputValue()).toBe('302');
  expect(await page.evaluate('window.isSame')).toBe(true);
});

test('the box of the other name says which one it adds, as the name is typed', async () => {
  const page = await browsed.visit(`/dashboard/projects/${slug}/settings/domains`);
  const field = page.getByRole('textbox', { name: 'Domain', exact: true });
  const other = page.getByRole('checkbox', { name: /^Also add/ });
  const any = 'www.example.com for example.com, or the other way round';
  for (const [typed, name] of [
    ['bücher.test', 'www.bücher.test'],
    [' WWW.Example.co.uk. ', 'example.co.uk'],
    ['', any],
  ] as const) {
    await field.fill(typed);
    await page
      .getByRole('checkbox', { name: `Also add ${name}, and redirect it to this one`, exact: true })
      .waitFor();
    expect(await other.isDisabled()).toBe(false);
  }
  for (const typed of ['shop.example.com', 'www.com', '*.example.com', 'example.com?']) {
    await field.fill('');
    await other.waitFor();
    await field.fill(typed);
    await other.waitFor({ state: 'hidden' });
    expect(await page.locator('input[name=pair]').isDisabled()).toBe(true);
  }
});

test('an opened part of a live page stays open', async () => {
  const domain = await addDomain('opened.birds.test');
  const page = await browsed.visit(
    `/dashboard/projects/${slug}/settings/domains/opened.birds.test`,
  );
  const snippet = page.locator('details pre');
  await page.getByText('As lines of a zone file').click();
  await snippet.waitFor();
  await domains().verifyDomain(domain);
  await page.getByRole('heading', { name: 'Problems' }).waitFor();
  expect(await snippet.isVisible()).toBe(true);
});

test('domains that were removed earlier are collapsed, and stay visible once they are expanded', async () => {
  const { project } = await sites().getSite(slug);
  const hosts = [1, 2, 3, 4, 5].map((number) => `gone-${number}.birds.test`);
  const [last, ...others] = await Promise.all(
    hosts.map((host) => domains().addDomain(project, host)),
  );
  for (const domain of others) await domains().removeDomain(domain);
  const page = await browsed.visit(`/dashboard/projects/${slug}/settings/domains`);
  const folded = page.locator('#removed-earlier');
  expect(await folded.getByRole('row').count()).toBe(0);
  await folded.getByText('1 domain removed earlier').click();
  await domains().removeDomain(last!);
  await folded.getByText('2 domains removed earlier').waitFor();
  // Beside the row with the headings.
  expect(await folded.getByRole('row').count()).toBe(3);
});

test('the message about a check follows the state of the domain', async () => {
  const domain = await addDomain('said.birds.test');
  pointAtUs(browsed.dashboard, domain);
  const page = await browsed.visit(`/dashboard/projects/${slug}/settings/domains`);
  await page.getByTitle('Verify said.birds.test').click();
  const said = page.getByRole('status');
  await said.getByText('its certificate has been ordered').waitFor();
  await domains().tendDomain(await domains().getDomain(domain.projectId, domain.host));
  await said.getByText('The domain is verified and live.').waitFor();
});

test.each([
  ['slow', -3_600_000],
  ['fast', 3_600_000],
] as const)(
  'a device whose clock is %s knows by the clock of the server when a button works again',
  async (clock, ms) => {
    const domain = await addDomain(`${clock}.birds.test`);
    await domains().verifyDomain(domain);
    const page = await browsed.visit('/dashboard/animals');
    await page.clock.install({ time: new SystemClock().now().getTime() + ms });
    await page.goto(`${browsed.dashboard.origin}/dashboard/projects/${slug}/settings/domains`);
    const button = page.getByTitle(`Verify ${domain.host}`);
    await page.clock.runFor(1000);
    expect(await button.isDisabled()).toBe(true);
    const form = page.locator('form').filter({ has: button });
    await form.getByText(/^available in \d+ seconds?$/).waitFor();
    await page.clock.runFor(60_000);
    expect(await button.isDisabled()).toBe(false);
  },
);

test('an untouched field follows changes that are saved elsewhere', async () => {
  const domain = await addDomain('first.birds.test');
  const page = await browsed.visit(`/dashboard/projects/${slug}/settings/domains`);
  const primary = page.getByLabel('Primary', { exact: true });
  expect(await primary.inputValue()).toBe('');
  const edit = (host: string) =>
    domains().editDomainSettings(domain.projectId, (settings) => ({ ...settings, primary: host }));
  await edit(domain.host);
  await page.getByText('Now first.birds.test.').waitFor();
  expect(await primary.inputValue()).toBe(domain.host);
  await edit('');
});

test('a page whose session ends elsewhere leads to the sign-in, and then back', async () => {
  const visitor = await browsed.dashboard.signIn(browsed.owner.email);
  const path = `/dashboard/projects/${slug}`;
  const page = await browsed.visit('/dashboard/animals', { cookie: visitor.cookie });
  // Who asks for the updates after that is only sent to the sign-in.
  const following = page.waitForResponse(
    (answer) => answer.url().endsWith(path) && isStream(answer.headers()),
  );
  await page.goto(browsed.dashboard.origin + path);
  await following;
  const access = browsed.dashboard.container.get(AccessKey);
  const signedIn = await access.findSession(visitor.cookie!.split('=')[1]!);
  await access.revokeSession(signedIn!, signedIn!.session.id);
  await page.waitForURL(`**/dashboard/sign-in?next=${path}`);
});

const isStream = (headers: Readonly<Record<string, string>>): boolean =>
  headers['content-type']?.startsWith('text/event-stream') ?? false;

test('a page whose session ended before it asked for its updates leads to the sign-in', async () => {
  const visitor = await browsed.dashboard.signIn(browsed.owner.email);
  const path = `/dashboard/projects/${slug}`;
  const page = await browsed.visit('/dashboard/animals', { cookie: visitor.cookie });
  const access = browsed.dashboard.container.get(AccessKey);
  const signedIn = await access.findSession(visitor.cookie!.split('=')[1]!);
  await page.route(`**${path}`, async (route) => {
    const isForUpdates = route.request().headers()['accept']?.includes('text/event-stream');
    if (isForUpdates) await access.revokeSession(signedIn!, signedIn!.session.id);
    await route.fallback();
  });
  await page.goto(browsed.dashboard.origin + path);
  await page.waitForURL(`**/dashboard/sign-in?next=${path}`);
});

test('a page whose updates are postponed asks for them later, once', async () => {
  const path = `/dashboard/projects/${slug}`;
  const page = await browsed.visit('/dashboard/animals');
  await page.clock.install();
  let asked = 0;
  await page.route(`**${path}`, async (route) => {
    if (!route.request().headers()['accept']?.includes('text/event-stream'))
      return route.fallback();
    asked += 1;
    return asked > 1
      ? route.fallback()
      : route.fulfill({ contentType: 'text/event-stream', body: 'event: later\ndata: 60\n\n' });
  });
  await page.goto(browsed.dashboard.origin + path);
  await until('it is told to come later', () => asked === 1);
  await page.clock.runFor(59_000);
  expect(asked).toBe(1);
  const following = page.waitForResponse(
    (answer) => answer.url().endsWith(path) && isStream(answer.headers()),
  );
  await page.clock.runFor(2000);
  await following;
  await page.clock.runFor(300_000);
  expect(asked).toBe(2);
});

test('a page that is refused its updates asks again after a minute, and then more and more rarely', async () => {
  const path = `/dashboard/projects/${slug}`;
  const page = await browsed.visit('/dashboard/animals');
  await page.clock.install();
  let asked = 0;
  await page.route(`**${path}`, async (route) => {
    if (!route.request().headers()['accept']?.includes('text/event-stream'))
      return route.fallback();
    asked += 1;
    return route.fulfill({ status: 503, body: '' });
  });
  await page.goto(browsed.dashboard.origin + path);
  await until('it is refused', () => asked === 1);
  await page.clock.runFor(59_000);
  expect(asked).toBe(1);
  await page.clock.runFor(62_000);
  await until('it asks again', () => asked === 2);
  await page.clock.runFor(119_000);
  expect(asked).toBe(2);
});

test('a record can be copied', async () => {
  await addDomain('copy.birds.test');
  const page = await browsed.visit(`/dashboard/projects/${slug}/settings/domains/copy.birds.test`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  // Else the button says what it says for a moment only.
  await page.evaluate('window.setTimeout = () => 0');
  await page.getByRole('button', { name: 'Copy', exact: true }).first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('copy');
});

test('an upload shows its deploy; a refused upload says why', async () => {
  const page = await browsed.visit(`/dashboard/projects/${slug}`);
  const field = page.getByLabel('Site archive');
  const send = page.getByRole('button', { name: 'Deploy', exact: true });
  await field.setInputFiles(archive());
  await send.click();
  await page.getByRole('status').getByText('The deploy succeeded.').waitFor();
  await page
    .getByRole('row')
    .filter({ hasText: /^\s*2\s*served/ })
    .waitFor();

  await field.setInputFiles(archive('../evil.html'));
  await send.click();
  await page.getByRole('alert').getByText('Deploy 3 failed.').waitFor();
  await page.getByText('Visitors still get deploy 2.').waitFor();
});

test('pressing a button again while its form is being sent does nothing', async () => {
  const page = await browsed.visit('/dashboard/keys');
  const sent: string[] = [];
  page.on('request', (request) => sent.push(request.method()));
  let goOn = (): void => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  await page.route('**/dashboard/keys', (route) => held.then(() => route.continue()));
  await page.getByRole('textbox', { name: 'Key name' }).fill('Rex');
  const button = page.getByRole('button', { name: 'Create key' });
  await button.focus();
  const first = page.waitForRequest((request) => request.method() === 'POST');
  await page.keyboard.press('Enter');
  await first;
  await page.keyboard.press('Enter');
  goOn();
  await page.getByText('It is not shown again').waitFor();
  expect(sent.filter((method) => method === 'POST')).toHaveLength(1);
  expect(await page.getByRole('row', { name: 'Rex' }).count()).toBe(1);
});

test('a success message does not return after a reload', async () => {
  const page = await browsed.visit('/dashboard');
  await page.getByRole('textbox', { name: 'Project name' }).fill('Fish');
  await page.getByRole('button', { name: 'New project' }).click();
  await page.getByRole('status').getByText('Project created.').waitFor();
  await page.waitForURL(({ search }) => search === '');
  await page.reload();
  await page.getByRole('heading', { name: 'Fish' }).waitFor();
  expect(await page.getByRole('status').count()).toBe(0);
});

test('a confirmation stays open while its page updates', async () => {
  const project = await sites().startProject(browsed.owner.accountId, 'Asked');
  const deploy = () => deployEntries(browsed.dashboard.container, project, entry('index.html'));
  await deploy();
  await deploy();
  const page = await browsed.visit(`/dashboard/projects/${project.slug}`);
  await page.getByTitle('Delete deploy 1').click();
  await deploy();
  await page.locator('.lead').getByText('deploy 3').waitFor();
  await page.getByRole('button', { name: 'Delete deploy', exact: true }).click();
  await page.getByText('The deploy was deleted.').waitFor();
  expect(await page.locator('#deploy-1').count()).toBe(0);
});
