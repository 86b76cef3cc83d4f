import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DomainsKey, SitesKey } from '../../src/app/keys.ts';
import { facts, records } from '../support/domains/known-dns.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { pointAtUs } from '../support/dashboard/filling.ts';
import { elementsIn, textOf } from '../support/dashboard/markup.ts';
import type { Owner } from '../support/dashboard/running-dashboard.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/sites.ts';
import { RecordingTracer } from '../support/recording-tracer.ts';
import { startDashboard, type RunningDashboard } from '../support/dashboard/running-dashboard.ts';

const sitesOf = ({ container }: RunningDashboard) => container.get(SitesKey);
const domainsOf = ({ container }: RunningDashboard) => container.get(DomainsKey);

const namesOn = (text: string): readonly string[] =>
  elementsIn(text, 'td').flatMap(({ attributes, text: said }) =>
    attributes['class'] === 'name' ? [said] : [],
  );

describe('the first page', () => {
  const tracer = new RecordingTracer();
  let dashboard: RunningDashboard;
  let owner: Owner;
  beforeAll(async () => {
    dashboard = await startDashboard({ tracer });
    owner = await dashboard.newOwner();
  });
  afterAll(() => dashboard.close());

  const page = async (query = '') => (await owner.visitor.get(`/dashboard${query}`)).text;
  const steps = (text: string) =>
    elementsIn(text, 'li').flatMap(({ text: said }) =>
      /\((not )?done( yet)?\)$/.test(said) ? [said] : [],
    );

  test('lists the first steps until all are done, and then everything that needs the owner, with links', async () => {
    const { container } = dashboard;
    const [sites, domains] = [sitesOf(dashboard), domainsOf(dashboard)];
    expect(steps(await page()).map((step) => step.includes('(done)'))).toEqual([
      ...[false, false, false, false, true],
    ]);
    const project = await sites.startProject(owner.accountId, 'Birds');
    await deployEntries(container, project, entry('index.html'));
    const live = await domains.addDomain(project, 'www.birds.test');
    expect(steps(await page()).map((step) => step.includes('(done)'))).toEqual([
      ...[true, true, true, false, true],
    ]);
    expect(textOf(await page())).toContain('Needs you www.birds.test Waiting for DNS records');
    dashboard.clock.advance(1000);
    const newer = await domains.addDomain(project, 'a.birds.test');
    expect(textOf(await page())).toMatch(/Needs you www\.birds\.test .* a\.birds\.test/);
    await domains.removeDomain(newer);

    pointAtUs(dashboard, live);
    await domains.tendDomain(await domains.verifyDomain(live));
    await domains.adoptPrimary(project.id);
    const done = await page();
    expect(done).not.toContain('First steps');
    expect(done).not.toContain('Needs you');
    expect(textOf(done)).toMatch(/Birds www\.birds\.test healthy just now/);

    dashboard.dns.tell(live.host, facts({ cname: records('elsewhere.test') }));
    dashboard.clock.advance(60_000);
    await domains.verifyDomain(live);
    const broken = await page();
    const link = elementsIn(broken, 'a').find(({ text }) => text === 'www.birds.test');
    expect(link?.attributes['href']).toBe(`/dashboard/projects/birds/settings/domains/${live.id}`);
    expect(textOf(broken)).toContain('Birds www.birds.test at risk');
  });

  test('can be searched and sorted once there are many projects, and shows no other account', async () => {
    const other = await dashboard.newOwner();
    await sitesOf(dashboard).startProject(other.accountId, 'Somebody else');
    for (const name of ['Cats', 'Ants', 'Dogs', 'Eels', 'Fish', 'Goats', 'Hens', 'Ibis', 'Jays']) {
      dashboard.clock.advance(1000);
      await sitesOf(dashboard).startProject(owner.accountId, name);
    }
    expect(await page()).not.toContain('Search projects"');
    dashboard.clock.advance(1000);
    await sitesOf(dashboard).startProject(owner.accountId, 'Koalas');
    expect(namesOn(await page()).slice(0, 3)).toEqual(['Ants', 'Birds', 'Cats']);
    expect(namesOn(await page('?order=newest'))[0]).toBe('Koalas');
    expect(namesOn(await page('?order=deploy'))[0]).toBe('Birds');
    expect(namesOn(await page('?q=hE'))).toEqual(['Hens']);
    expect(textOf(await page('?q=somebody'))).toContain('No projects match');
    expect(textOf((await owner.visitor.get('/dashboard/search?q=somebody')).text)).toContain(
      'Nothing found',
    );
  });

  test('links to a project, whose page names three of its addresses and counts the others', async () => {
    const [sites, domains] = [sitesOf(dashboard), domainsOf(dashboard)];
    const project = await sites.startProject(owner.accountId, 'Zebras');
    await deployEntries(dashboard.container, project, entry('index.html'));
    for (const name of ['a', 'b', 'c', 'd']) {
      const domain = await domains.addDomain(project, `${name}.zebras.test`);
      pointAtUs(dashboard, domain);
      await domains.tendDomain(await domains.verifyDomain(domain));
    }
    const { text } = await owner.visitor.get('/dashboard/projects/zebras');
    expect(elementsIn(text, 'a').filter((link) => link.text.includes('zebras.'))).toHaveLength(3);
    const more = elementsIn(text, 'a').find((link) => link.text === '2 more');
    expect(more?.attributes['href']).toBe('/dashboard/projects/zebras/settings/domains?state=live');
  });

  test('reads all projects in one query, however many there are', async () => {
    const asked = async () => {
      tracer.steps.length = 0;
      await page();
      return tracer.steps.filter(({ facts: of }) => 'db.query.text' in of).length;
    };
    const before = await asked();
    await sitesOf(dashboard).startProject(owner.accountId, 'Lions');
    expect(await asked()).toBe(before);
    expect(before).toBeLessThan(16);
  });
});

describe('the frame of all pages, in a browser', () => {
  const browsed = browseDashboard(async ({ dashboard, owner }) => {
    const project = await sitesOf(dashboard).startProject(owner.accountId, 'Birds');
    await deployEntries(dashboard.container, project, entry('index.html'));
    await domainsOf(dashboard).addDomain(project, 'shop.birds.test');
  });

  test.each([true, false])(
    'the search finds matching pages, with scripts: %s',
    async (javaScript) => {
      const page = await browsed.visit('/dashboard/keys', { javaScript });
      const field = page.label('Search projects, domains and animals');
      if (javaScript) await page.press('/');
      else await field.focus();
      await page.press('b', 'i', 'r', 'd', 's', 'Enter');
      await page.isAt(/\/dashboard\/search\?q=birds$/);
      await page.role('link', 'Birds').isShown();
      await page.role('link', 'shop.birds.test').click();
      await page.isAt(/\/settings\/domains\/dom_\w+$/);
    },
  );

  test.each([true, false])(
    'a phone opens a page to search on, where you can type at once, with scripts: %s',
    async (javaScript) => {
      const page = await browsed.visit('/dashboard/keys', { javaScript, width: 390 });
      if (javaScript) await page.press('/');
      else await page.role('link', 'Search').click();
      await page.isAt(/\/dashboard\/search$/);
      await page.css('main input:focus').isShown();
      await page.press('b', 'i', 'r', 'd', 's', 'Enter');
      await page.role('link', 'Birds').isShown();
    },
  );

  test.each([true, false])(
    'a phone shows one menu button, with scripts: %s',
    async (javaScript) => {
      const page = await browsed.visit('/dashboard', { javaScript, width: 390 });
      const link = page.role('link', 'API keys');
      expect(await link.isVisible()).toBe(false);
      await page.role('button', 'Menu').click();
      await link.click();
      await page.isAt(/\/dashboard\/keys$/);
    },
  );

  test('the help link leads to the matching page, and from there to others', async () => {
    const page = await browsed.visit('/dashboard/projects/birds/settings/domains');
    await page.role('link', 'Help').click();
    await page.role('heading', 'Custom domains').isShown();
    await page.css('main a[href^="/dashboard/help/"]').click();
    await page.css('main article').isShown();
  });

  test('a form that cannot be sent keeps its content and says so', async () => {
    const page = await browsed.visit('/dashboard');
    await page.label('Project name').fill('Parrots');
    await page.evaluate('window.asked = fetch; window.fetch = () => Promise.reject(new Error())');
    await page.role('button', 'New project').click();
    await page.role('alert').words('We cannot reach Animal Store').isShown();
    expect(await page.label('Project name').read('value')).toBe('Parrots');
    await page.evaluate('window.fetch = window.asked');
    await page.role('button', 'New project').click();
    await page.isAt(/\/dashboard\/projects\/parrots/);
  });

  test("times are shown in the browser's time zone, with UTC in the tooltip", async () => {
    const page = await browsed.visit('/dashboard');
    await page.raw.emulateTimezone('Asia/Tokyo');
    const { slug } = (await sitesOf(browsed.dashboard).getSite('birds')).project;
    const { id } = await domainsOf(browsed.dashboard).getDomain(
      (await sitesOf(browsed.dashboard).getSite(slug)).project.id,
      'shop.birds.test',
    );
    await page.goto(`${browsed.dashboard.origin}/dashboard/projects/birds/settings/domains/${id}`);
    await page.role('heading', 'Timeline').click();
    const shown = page.css('.timeline time[data-local]');
    const at = new Date(await shown.read('dateTime'));
    const hour = String((at.getUTCHours() + 9) % 24).padStart(2, '0');
    expect(await shown.read()).toContain(`${hour}:`);
    expect(await shown.read('title')).toBe(
      `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`,
    );
  });
});
