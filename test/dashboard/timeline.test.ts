import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DomainsKey, SitesKey } from '../../src/app/keys.ts';
import type { Domains } from '../../src/domains/domains.ts';
import type { Sites } from '../../src/sites/sites.ts';
import type { CustomDomain } from '../../src/domains/domain/attachment/custom-domain.ts';
import type { Project } from '../../src/sites/domain/project.ts';
import { CustomDomains } from '../../src/domains/custom-domain-ports.ts';
import { record as tell } from '../support/domains/custom-domains.ts';
import { pointAtUs } from '../support/dashboard/domains.ts';
import { elementsIn } from '../support/dashboard/markup.ts';
import { DashboardStream } from '../support/dashboard/stream.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/site-source.ts';

let dashboard: RunningDashboard;
let domains: Domains;
let sites: Sites;
let owner: Owner;
let project: Project;
let domain: CustomDomain;
let path: string;
let hosts = 0;
const settings = (of: Project) => `/dashboard/projects/${of.slug}/settings/domains`;
const pathOf = ({ host }: CustomDomain, of = project) => `${settings(of)}/${host}`;

const newProject = async (name: string): Promise<Project> => {
  const started = await sites.startProject(owner.accountId, name);
  await deployEntries(dashboard.container, started, entry('index.html'));
  return started;
};

beforeAll(async () => {
  dashboard = await startDashboard();
  domains = dashboard.container.get(DomainsKey);
  sites = dashboard.container.get(SitesKey);
  owner = await dashboard.newOwner();
  project = await newProject('Birds');
});
afterAll(() => dashboard.close());
beforeEach(async () => {
  domain = await domains.addDomain(project, `shop-${(hosts += 1)}.birds.test`);
  path = pathOf(domain);
});

/** So many checks, each of which tells its number. */
const record = async (from: number, to: number): Promise<void> => {
  const stores = { domains: dashboard.container.get(CustomDomains) };
  for (let n = from; n <= to; n++) {
    const problems = [{ code: 'cname_missing', seen: `answer ${n}.` }];
    const occurredAt = dashboard.clock.now();
    await tell(stores, domain.id, { kind: 'checked', occurredAt, details: { problems } });
  }
};

const numbersIn = (text: string): readonly number[] =>
  [...text.matchAll(/answer (\d+)\./g)].map(([, number]) => Number(number));

const linkIn = (text: string, name: string): string | undefined =>
  elementsIn(text, 'a').find((link) => link.text === name)?.attributes['href'];

describe('a timeline', () => {
  test('can be read to its end, page by page, without scripts', async () => {
    await record(1, 45);
    const found: number[] = [];
    const walked: string[] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      walked.push(next);
      const { text, status } = await owner.visitor.get(next);
      expect(status).toBe(200);
      found.push(...numbersIn(text));
      expect(linkIn(text, 'Back to the newest entries')).toBe(
        next === path ? undefined : `${path}#timeline`,
      );
      next = linkIn(text, 'Older entries');
    }
    expect(found).toEqual(Array.from({ length: 45 }, (_, n) => 45 - n));
    expect(walked).toHaveLength(3);
    expect(walked[1]).toMatch(/\?before=\d+#timeline$/);
  });

  test('that is read on an older page stays there while new entries come in', async () => {
    await record(1, 45);
    const { text } = await owner.visitor.get(path);
    const older = (linkIn(text, 'Older entries') ?? '').replace(/#.*/, '');
    const stream = await DashboardStream.open(owner.visitor, older);
    await stream.shows('answer 25.');
    await record(46, 50);
    // The state stands on each page of it: that it shows means that the page was made anew.
    pointAtUs(dashboard, domain);
    await domains.verifyDomain(domain);
    await stream.shows('Re-verify');
    stream.close();
    const last = stream.events.findLast(({ event }) => event === 'page')?.data ?? '';
    expect(numbersIn(last)).toEqual(Array.from({ length: 20 }, (_, n) => 25 - n));
  });

  test.each(['', '0', '-1', '1e3', 'x', '99999999999999999999'])(
    'begins at the newest entry when the position is invalid: "%s"',
    async (before) => {
      await record(1, 3);
      const { status, text } = await owner.visitor.get(`${path}?before=${before}`);
      expect([status, numbersIn(text)]).toEqual([200, [3, 2, 1]]);
    },
  );

  test('says when there are no earlier entries', async () => {
    const { status, text } = await owner.visitor.get(`${path}?before=1`);
    expect(status).toBe(200);
    expect(text).toContain('No older entries.');
    expect(linkIn(text, 'Back to the newest entries')).toBe(`${path}#timeline`);
  });

  test('shows the cause before the effect: first the certificate, then that the domain is live', async () => {
    pointAtUs(dashboard, domain);
    await domains.tendDomain(await domains.verifyDomain(domain));
    const { text } = await owner.visitor.get(path);
    const [live, issued, verified] = ['Live: ', 'Certificate issued', '>Verified<'].map((what) =>
      text.lastIndexOf(what),
    );
    expect(live).toBeLessThan(issued ?? 0);
    expect(issued).toBeLessThan(verified ?? 0);
  });
});

describe('an earlier attachment', () => {
  let again: CustomDomain;
  let earlier: string;
  beforeEach(async () => {
    await record(1, 25);
    await domains.removeDomain(domain);
    again = await domains.addDomain(project, domain.host);
    earlier = `${path}?attachment=${domain.id}`;
  });

  test('is reached from the list of removed domains, and its timeline as a whole', async () => {
    const list = await owner.visitor.get(settings(project));
    const links = elementsIn(list.text, 'a').map(({ attributes }) => attributes['href']);
    expect(links).toEqual(expect.arrayContaining([path, earlier]));
    const { text } = await owner.visitor.get(earlier);
    const older = linkIn(text, 'Older entries');
    expect(older).toMatch(new RegExp(`\\?attachment=${domain.id}&before=\\d+#timeline$`));
    const next = await owner.visitor.get(older ?? '');
    const all = [...numbersIn(text), ...numbersIn(next.text)];
    expect(all).toEqual(Array.from({ length: 25 }, (_, n) => 25 - n));
    expect(linkIn(next.text, 'Back to the newest entries')).toBe(`${earlier}#timeline`);
  });

  test('is read-only and links to the newest one', async () => {
    const { text } = await owner.visitor.get(earlier);
    expect(elementsIn(text, 'button').map((button) => button.text)).not.toContain('Verify');
    expect(text).not.toContain(`${path}/remove`);
    expect(text).not.toContain(again.token);
    expect(text).toContain('earlier attachment');
    expect(linkIn(text, 'Go to the newest attachment')).toBe(path);
    const forced = await owner.visitor.post(earlier);
    expect(forced.status).toBe(422);
    expect(await domains.getDomain(project.id, again.host)).toEqual(again);
  });

  test('has live updates too, and its page still shows it when the name is removed once more', async () => {
    const stream = await DashboardStream.open(owner.visitor, earlier);
    await stream.shows('earlier attachment');
    await domains.removeDomain(again);
    const third = await domains.addDomain(project, domain.host);
    stream.close();
    const { text } = await owner.visitor.get(earlier);
    expect(numbersIn(text)[0]).toBe(25);
    expect(text).not.toContain(third.token);
  });

  test('is 404 under another name, project or account', async () => {
    const other = await newProject('Fish');
    const elsewhere = await domains.addDomain(other, `other-${hosts}.birds.test`);
    const stranger = await dashboard.newOwner();
    const none = async (visitor: Owner['visitor'], wanted: string) => {
      expect([wanted, (await visitor.get(wanted)).status]).toEqual([wanted, 404]);
      const stream = await DashboardStream.open(visitor, wanted);
      stream.close();
      expect([wanted, stream.status]).toEqual([wanted, 404]);
    };
    for (const id of ['', 'dom_nobodys', elsewhere.id, `${domain.id} `, domain.id.toUpperCase()])
      await none(owner.visitor, `${path}?attachment=${encodeURIComponent(id)}`);
    await none(owner.visitor, `${pathOf(elsewhere, other)}?attachment=${domain.id}`);
    await none(owner.visitor, `${pathOf(domain, other)}?attachment=${domain.id}`);
    await none(stranger.visitor, earlier);
  });
});

test('adding a name twice names the project that has it', async () => {
  const other = await newProject('Cats & dogs');
  const add = async (to: Project) => {
    const form = elementsIn((await owner.visitor.get(settings(to))).text, 'input');
    const once = form.find(({ attributes }) => attributes['name'] === 'once')?.attributes['value'];
    return owner.visitor.post(settings(to), { domain: domain.host, once: once ?? '' });
  };
  expect((await add(project)).text).toContain(`${domain.host} is in the list of this project`);
  const refused = await add(other);
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('Your project &quot;Birds&quot; has');
});
