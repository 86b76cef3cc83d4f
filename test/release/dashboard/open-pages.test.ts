import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { banApiKey } from '../../../src/access/domain/api-key.ts';
import { ApiKeys, UsageLog } from '../../../src/access/ports.ts';
import { AccessKey, DomainsKey, SitesKey } from '../../../src/app/keys.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import type { SourceEntry } from '../../../src/sites/ports.ts';
import { Notices } from '../../../src/notifications/ports.ts';
import type { Domains } from '../../../src/domains/domains.ts';
import type { Sites } from '../../../src/sites/sites.ts';
import {
  startBothBrowsers,
  type BothBrowsers,
  type OpenPage,
} from '../../support/dashboard/both-browsers.ts';
import { browserStartMs } from '../../support/dashboard/browser.ts';
import { pointAtUs } from '../../support/dashboard/filling.ts';
import { deployEntries } from '../../support/sites/deploy-entries.ts';
import { facts, records } from '../../support/domains/known-dns.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../../support/dashboard/running-dashboard.ts';
import { everyKind } from '../../support/notifications.ts';
import { entry } from '../../support/sites/sites.ts';

// Every live page stays open in Chromium and Firefox during every change that it can show. Each page must
// then show the same as after a reload, and none may crash. The tests depend on each other.

let dashboard: RunningDashboard;
let owner: Owner;
let domains: Domains;
let sites: Sites;
let project: Project;
let browsers: BothBrowsers;
let pages: readonly OpenPage[];

beforeAll(async () => {
  dashboard = await startDashboard();
  owner = await dashboard.newOwner();
  domains = dashboard.container.get(DomainsKey);
  sites = dashboard.container.get(SitesKey);
  project = await sites.startProject(owner.accountId, 'Birds');
  await deployEntries(dashboard.container, project, entry('index.html'));
  await domains.addDomain(project, host('one'));
  browsers = await startBothBrowsers(dashboard.origin);
  pages = await openAll();
}, browserStartMs);
afterAll(async () => {
  await browsers.close();
  await dashboard.close();
});

const host = (label: string): string => `${label}.birds.test`;
const domainNamed = (label: string): Promise<CustomDomain> =>
  domains.getDomain(project.id, host(label));

const openAll = async (): Promise<readonly OpenPage[]> => {
  const own = `/dashboard/projects/${project.slug}`;
  const domains = `${own}/settings/domains`;
  const redirects = `${own}/settings/redirects`;
  const paths = [own, domains, `${domains}/${host('one')}`, redirects, '/dashboard/usage'];
  const opened = paths.map((path) => browsers.open(path, owner.visitor.cookie ?? ''));
  return (await Promise.all(opened)).flat();
};

/** The pages after a reload, by path. */
const reload = async (): Promise<ReadonlyMap<string, string>> => {
  const paths = [...new Set(pages.map(({ path }) => path))];
  const answers = paths.map(async (path) => {
    const { status, text } = await owner.visitor.get(path);
    expect([path, status]).toEqual([path, 200]);
    return [path, text] as const;
  });
  return new Map(await Promise.all(answers));
};

const news = (text = ''): string => text.replace(/name="once" value="[^"]*"/g, '');

const add = (label: string) => () => domains.addDomain(project, host(label));
const remove = (label: string) => async () => domains.removeDomain(await domainNamed(label));

/** Lets the DNS return the required records or others, and checks it again. */
const check = async (label: string, instead?: ReturnType<typeof facts>): Promise<void> => {
  const domain = await domainNamed(label);
  if (instead) dashboard.dns.tell(domain.host, instead);
  else pointAtUs(dashboard, domain);
  dashboard.clock.advance(60_000);
  await domains.verifyDomain(domain);
};

const tend = (label: string) => async () => domains.tendDomain(await domainNamed(label));

const redirects = (redirect?: { from: string; to: string }) => () =>
  domains.editDomainSettings(project.id, (settings) => ({
    ...settings,
    redirects: redirect ? [{ from: host(redirect.from), to: host(redirect.to), status: 308 }] : [],
  }));

const contest = async (): Promise<void> => {
  const rival = await dashboard.newOwner();
  const theirs = await sites.startProject(rival.accountId, 'Bats');
  await deployEntries(dashboard.container, theirs, entry('index.html'));
  const domain = await domains.addDomain(theirs, host('two'));
  pointAtUs(dashboard, domain, { txt: records(`animal-store-verify=${domain.token}`) });
  await domains.verifyDomain(domain);
};

/** A deploy that waits until it is released. */
const upload = { finish: (): void => undefined, ended: Promise.resolve<unknown>(undefined) };
const startUpload = (): void => {
  const wait = new Promise<void>((resolve) => (upload.finish = resolve));
  const slow: SourceEntry = {
    ...entry('index.html'),
    content: (async function* () {
      await wait;
      yield Buffer.from('slow');
    })(),
  };
  upload.ended = deployEntries(dashboard.container, project, slow);
};

const countRequests = async (operation: string): Promise<void> => {
  const key = await dashboard.container
    .get(AccessKey)
    .createApiKey({ accountId: owner.accountId, name: 'Till' });
  const now = dashboard.clock.now();
  const hour = new Date(Math.floor(now.getTime() / 3_600_000) * 3_600_000);
  const { accountId } = owner;
  const sums = [{ accountId, keyId: key.id, operation, outcome: '2xx' as const, hour }];
  await dashboard.container.get(UsageLog).add(
    sums.map((sum) => ({ ...sum, requests: 7 })),
    new Map([[key.id, now]]),
  );
};

const newestKey = async () => {
  const keys = await dashboard.container.get(AccessKey).listApiKeys(owner.accountId);
  return keys.find(({ name }) => name === 'Till')!;
};

const changes: readonly (readonly [what: string, act: () => unknown])[] = [
  ['a second domain', add('two')],
  ['a third domain', add('three')],
  ['the removal of the newest domain', remove('three')],
  ['a check that finds no records', () => check('one', facts())],
  ['a check that finds another target', () => check('one', facts({ cname: records('else.test') }))],
  ['a domain that is verified', () => check('one')],
  ['a domain that goes live', tend('one')],
  ['the choice of the primary', () => domains.adoptPrimary(project.id)],
  ['a redirect that waits', redirects({ from: 'two', to: 'one' })],
  ['a second domain that is verified', () => check('two')],
  ['a redirect that starts', tend('two')],
  ['a live domain whose records are gone', () => check('one', facts())],
  ['a live domain whose records are back', () => check('one')],
  ['a domain that another account has proven', contest],
  ['the end of a redirect', redirects()],
  ['the removal of the last domain', remove('one')],
  ['a name that is added again', add('one')],
  ['an upload that has begun', startUpload],
  [
    'a deploy that succeeded',
    async () => {
      upload.finish();
      await upload.ended;
    },
  ],
  [
    'a deploy that failed',
    () => deployEntries(dashboard.container, project, entry('../../up.html')),
  ],
  ['an older deploy that is used', () => sites.rollBack(project, 1)],
  ['a deploy that is deleted', () => sites.deleteDeploy(project, 2)],
  ['the requests of a new key', () => countRequests('listPets')],
  ['calls to a deprecated operation', () => countRequests('getPet')],
  [
    'a key that is banned',
    async () =>
      dashboard.container
        .get(ApiKeys)
        .change((await newestKey()).id, (key) => banApiKey(key, dashboard.clock.now())),
  ],
  [
    'a ban that is lifted',
    async () => dashboard.container.get(AccessKey).liftBan((await newestKey()).id, owner.accountId),
  ],
  ['another plan', () => dashboard.container.get(AccessKey).setPlan(owner.accountId, 'pro')],
];

test('the bell of a page that is not live is updated, and is cleared in each browser once the notices were read', async () => {
  const { visitor, accountId } = await dashboard.newOwner();
  const quiet = await browsers.open('/dashboard/keys', visitor.cookie ?? '');
  const all = (name: string) => Promise.all(quiet.map((page) => page.rings(name)));
  await all('Notices');
  const [told] = everyKind();
  const occurredAt = dashboard.clock.now();
  await dashboard.container.get(Notices).add({ ...told!, id: 'evt_rung', accountId, occurredAt });
  await all('Notices, 1 unread');
  await visitor.post('/dashboard/notices');
  await all('Notices');
});

test.each(changes)('every open page looks like a new one after %s', async (_, act) => {
  const before = await reload();
  await act();
  const after = await reload();
  expect([...after].some(([path, text]) => news(text) !== news(before.get(path)))).toBe(true);
  await Promise.all(pages.map((page) => page.shows(after.get(page.path) ?? '')));
});
