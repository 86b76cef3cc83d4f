import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Plan } from '../../src/access/domain/quota.ts';
import { DomainsKey, SitesKey } from '../../src/app/keys.ts';
import { Database } from '../../src/adapters/kysely/database.ts';
import { writeLedger } from '../../src/adapters/kysely/sites/kysely-certificate-orders.ts';
import { CustomDomains } from '../../src/domains/ports.ts';
import type { CustomDomain } from '../../src/domains/domain/attachment/custom-domain.ts';
import type { Domains } from '../../src/domains/domains.ts';
import type { Project } from '../../src/sites/domain/project.ts';
import type { Sites } from '../../src/sites/sites.ts';
import { pointAtUs } from '../support/dashboard/filling.ts';
import { elementsIn, textOf } from '../support/dashboard/markup.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';
import { DashboardStream } from '../support/dashboard/stream.ts';
import { record as tell } from '../support/domains/custom-domains.ts';
import { facts, records } from '../support/domains/known-dns.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/sites.ts';

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
  ['a subdomain', `blog.${ascii}`, false],
])('the records of %s that was just added are shown with their hints', async (_, host, isApex) => {
  if (!isApex) await add(host);
  const markup = await markupOf(`/${host}`);
  const text = textOf(markup);
  for (const hint of hints) expect(text).toContain(hint);
  expect(text.includes('not every provider supports it')).toBe(isApex);
  expect(text.includes('An apex domain cannot have a CNAME')).toBe(isApex);
});

test('the list of domains has no other section, and its only suggested next step is to add one', async () => {
  const markup = await markupOf();
  expect(elementsIn(markup, 'h2')).toEqual([]);
  const main = elementsIn(markup, 'button').filter(
    ({ attributes }) => attributes['class'] === 'main',
  );
  expect(main.map(({ text }) => text)).toEqual(['Add domain']);
});

test('redirects show U-labels beside the A-labels, and empty fields are shown as empty', async () => {
  const markup = (await owner.visitor.get(pathOf('redirects'))).text;
  const row = elementsIn(markup, 'tr').find(({ attributes }) =>
    attributes['id']?.startsWith('redirect-'),
  );
  const target = `www.bücher.test (www.${ascii})`;
  expect(row?.text).toContain(`${both} ${target} Starts when both are live. 308`);
  const offered = elementsIn(markup, 'option').map(({ attributes }) => attributes);
  expect(offered).toContainEqual({ value: ascii, label: 'bücher.test' });
  const fields = elementsIn(markup, 'input').map(({ attributes }) => attributes);
  const [from, to, primary] = ['from', 'to', 'primary'].map((name) =>
    fields.find((one) => one['name'] === name),
  );
  expect([from, to, primary]).toMatchObject([{ type: 'text' }, { type: 'text' }, { type: 'text' }]);
  expect([from?.['placeholder'], to?.['placeholder']]).toEqual([undefined, undefined]);
});

test('redirects are shown on pages, the newest first', async () => {
  const its = await dashboard.newOwner({ plan: 'enterprise' });
  const domains = dashboard.container.get(DomainsKey);
  const many = await dashboard.container.get(SitesKey).startProject(its.accountId, 'Many');
  await deployEntries(dashboard.container, many, entry('index.html'));
  await domains.addDomain(many, 'old.test');
  const page = `/dashboard/projects/${many.slug}/settings/redirects`;
  const from = Array.from({ length: 51 }, (_, n) => `shop-${n}.old.test`);
  for (const host of from) await domains.addDomain(many, host);
  const redirects = from.map((host) => ({ from: host, to: 'old.test' }));
  await domains.changeDomainSettings(many.id, { redirects });
  const shown = async (address: string) => {
    const { text } = await its.visitor.get(address);
    const rows = elementsIn(text, 'tr').flatMap(({ attributes }) => attributes['id'] ?? []);
    const next = elementsIn(text, 'a').find(({ attributes }) => attributes['rel'] === 'next');
    return { rows, next: next?.attributes['href'] };
  };
  const { rows, next = '' } = await shown(page);
  expect(rows).toEqual(
    from
      .slice(1)
      .toReversed()
      .map((host) => `redirect-${host}`),
  );
  expect(await shown(next)).toEqual({ rows: ['redirect-shop-0.old.test'], next: undefined });
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

  test('are added together while the checkbox is ticked, once, however often the form is sent', async () => {
    expect(boxIn((await owns.visitor.get(page())).text)).toMatchObject({ checked: '' });
    const form = { domain: 'bücher.test', pair: 'yes' };
    const [first, second] = [await send(form), await send(form)];
    expect(first.location).toMatch(/\/settings\/domains\/dom_\w+\?done=added\./);
    expect(second.location).toBe(first.location);
    expect(await stored()).toEqual([[ascii, `www.${ascii}`], 1]);
    const added = textOf((await owns.visitor.get(first.location ?? '')).text);
    expect(added).toContain(`Records to create for ${both} and www.bücher.test (www.${ascii})`);
    expect(added).toMatch(/As lines of a zone file.* @ 3600 IN ALIAS .* www 3600 IN CNAME /s);
    expect(added).toContain(`redirects to ${both} as soon as both are live`);
    const refused = await send(form, 'in-the-other-tab');
    expect(refused.status).toBe(422);
    expect(textOf(refused.text)).toContain(`${both} is in the list of this project already.`);
    expect(boxIn(refused.text)).toMatchObject({ checked: '' });
    expect(await stored()).toEqual([[ascii, `www.${ascii}`], 1]);
  });

  test('are no longer said to redirect once they are removed', async () => {
    await send({ domain: 'shop.test', pair: 'yes' });
    const removed = `${page()}?state=removed`;
    const domains = dashboard.container.get(DomainsKey);
    for (const one of await domains.listDomains(shop.id)) await domains.removeDomain(one);
    const [list] = elementsIn((await owns.visitor.get(removed)).text, 'tbody');
    expect(list?.text).toContain('www.shop.test removed Removed by your account');
  });

  test('are added separately while the checkbox is not ticked, and it stays so when the name is refused', async () => {
    const refused = await send({ domain: 'localhost' });
    expect(boxIn(refused.text)).not.toHaveProperty('checked');
    const { location } = await send({ domain: 'bücher.test' }, 'the-corrected-form');
    expect(textOf((await owns.visitor.get(location ?? '')).text)).toContain(
      'Added. Create the records',
    );
    expect(await stored()).toEqual([[ascii], 0]);
  });

  test('are added without a redirect if another redirect conflicts, and the page says why', async () => {
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
  const { text: page } = await owner.visitor.get(`/dashboard/projects/${project.slug}/settings`);
  expect(page).toMatch(/<details id="import" *>/);
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
  for (let order = 0; order < 10; order++) {
    const { accountId, host, registrableDomain } = waiting;
    const authority = 'local';
    const name = { authority, accountId, host: `${order}.${host}`, registrableDomain };
    const asked = { orderKey: String(order), occurredAt: dashboard.clock.now() };
    const entry = { ...name, ...asked, kind: 'order', isManual: false } as const;
    await dashboard.container
      .get(Database)
      .transaction((db) => writeLedger(db, { entered: [entry] }));
  }
  await domains.tendDomain(await domains.verifyDomain(waiting));
  const row = elementsIn(await markupOf(), 'tr').find(({ text }) => text.includes('waits.bücher'));
  expect(row?.text).toMatch(/Certificate waits: .*hour.* next attempt in 1 hour/);
});

test('removed domains are listed only on request, with the reason', async () => {
  expect(await markupOf()).not.toContain('>gone.bücher.test');
  const [row] = elementsIn(await markupOf('?state=removed'), 'tbody');
  expect(row?.text).toContain('gone.bücher.test (gone.xn--bcher-kva.test) removed Removed by your');
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
  dashboard.clock.advance(2 * 3_600_000);
  await domains.tendDomain(await domains.verifyDomain(domain));
  const text = textOf(await markupOf(`/${domain.host}`));
  expect(text).toContain('To do Nothing');
  expect(text).not.toContain('Who acts');
});

const formOf = async (plan: Plan, settings: Readonly<Record<string, string>>): Promise<string> => {
  const dashboard = await startDashboard({ settings });
  try {
    const { accountId, visitor } = await dashboard.newOwner({ plan });
    const { slug } = await dashboard.container.get(SitesKey).startProject(accountId, 'Shop');
    const { text } = await visitor.get(`/dashboard/projects/${slug}/settings/domains`);
    expect(elementsIn(text, 'input').map(({ attributes }) => attributes['name'])).toContain('pair');
    return textOf(text);
  } finally {
    await dashboard.close();
  }
};

const zone = { ACME_DNS_ZONE: 'acme.zoo.test' };

test.each([
  ['business', zone, true],
  ['pro', zone, false],
] as const)(
  'on the plan %s with %j, the form for a new domain mentions wildcards: %s',
  async (plan, settings, isShown) => {
    const text = await formOf(plan, settings);
    expect(text.includes('A wildcard such as *.shop.example.com')).toBe(isShown);
  },
);

describe('a long list of domains', () => {
  let visitor: Owner['visitor'];
  let shop: Project;
  let list: string;
  let domains: Domains;
  beforeAll(async () => {
    const owns = await dashboard.newOwner({ plan: 'enterprise' });
    visitor = owns.visitor;
    domains = dashboard.container.get(DomainsKey);
    shop = await dashboard.container.get(SitesKey).startProject(owns.accountId, 'Many');
    await deployEntries(dashboard.container, shop, entry('index.html'));
    list = `/dashboard/projects/${shop.slug}/settings/domains`;
    for (let n = 62; n >= 10; n--) {
      dashboard.clock.advance(40 * 60_000);
      await domains.addDomain(shop, `n${n}.many.test`);
    }
    const live = await domains.addDomain(shop, 'a-live.many.test');
    pointAtUs(dashboard, live);
    await domains.tendDomain(await domains.verifyDomain(live));
    visitor = await dashboard.signIn(owns.email);
  });

  const hostsOn = (text: string): readonly string[] =>
    elementsIn(text, 'td').flatMap(({ attributes, text: said }) =>
      attributes['class'] === 'name' ? [said] : [],
    );
  const linkIn = (text: string, name: string): string =>
    elementsIn(text, 'a').find((link) => link.text === name)?.attributes['href'] ?? '';

  test('has pages of 50, with domains that need the owner first, and links that can be shared', async () => {
    const first = (await visitor.get(list)).text;
    // The one that waits longest comes first.
    expect(hostsOn(first)).toEqual(Array.from({ length: 50 }, (_, n) => `n${62 - n}.many.test`));
    const second = (await visitor.get(linkIn(first, 'Next page'))).text;
    expect(hostsOn(second)).toEqual([
      ...['n12', 'n11', 'n10', 'a-live'].map((n) => `${n}.many.test`),
    ]);
    expect(linkIn(second, 'Next page')).toBe('');
    expect(linkIn(second, 'First page')).toBe(list);
  });

  test('can be searched, and filtered by state with a count for each state', async () => {
    const { text } = await visitor.get(list);
    const filters = elementsIn(text, 'nav').find(
      ({ attributes }) => attributes['aria-label'] === 'State',
    );
    expect(filters?.text).toBe(
      'All 54 Needs you 53 added, awaiting DNS 53 verified 0 live 1 removed 0',
    );
    expect(hostsOn((await visitor.get(`${list}?state=live`)).text)).toEqual(['a-live.many.test']);
    const found = (await visitor.get(`${list}?q=N61&state=added`)).text;
    expect(hostsOn(found)).toEqual(['n61.many.test']);
    expect(hostsOn((await visitor.get(`${list}?q=n61&state=live`)).text)).toEqual([]);
  });

  test('are found by the search of the account, which says if there are more', async () => {
    const search = async (q: string) => (await visitor.get(`/dashboard/search?q=${q}`)).text;
    expect(hostsOn(await search('n61'))).toEqual(['n61.many.test']);
    expect(await search('n61')).not.toContain('There are more.');
    expect(hostsOn(await search('many.test'))).toHaveLength(10);
    expect(await search('many.test')).toContain('There are more.');
  });

  test.each(['after=1~x', 'after=~', 'after=wanted~%00', 'after=wanted~x~a~b', 'state=x', 'q=%25'])(
    'answers an invalid address: %s',
    async (query) => {
      expect((await visitor.get(`${list}?${query}`)).status).toBe(200);
    },
  );

  test('can verify or remove several domains at once, and asks before it removes them', async () => {
    const [one, other] = await Promise.all(
      ['n10', 'n11'].map((name) => domains.getDomain(shop.id, `${name}.many.test`)),
    );
    const ids = `${one!.id},${other!.id}`;
    pointAtUs(dashboard, one!);
    const verified = await visitor.post(`${list.replace('/domains', '/verify-domains')}?q=n1`, {
      domain: ids,
    });
    expect(verified.location).toContain(`${list}?q=n1&done=verified-several.`);
    expect((await domains.getDomain(shop.id, one!.id)).state).toBe('verified');
    const removal = list.replace('/domains', '/remove-domains');
    const asked = await visitor.get(`${removal}?domain=${one!.id}&domain=${other!.id}`);
    expect(textOf(asked.text)).toContain('Remove 2 domains?');
    expect((await domains.getDomain(shop.id, one!.id)).state).toBe('verified');
    const { status } = await visitor.post(removal, { domain: ids });
    expect(status).toBe(303);
    for (const { id } of [one!, other!]) {
      expect((await domains.getDomain(shop.id, id)).state).toBe('removed');
    }
    const late = textOf((await visitor.get(`${removal}?domain=${one!.id}`)).text);
    expect(late).toContain('No domain is selected.');
    expect(late).not.toContain('Remove 0 domains?');
  });
});

describe('the page of a domain', () => {
  let domains: Domains;
  let sites: Sites;
  let owner: Owner;
  let project: Project;
  let domain: CustomDomain;
  let path: string;
  let hosts = 0;
  const settings = (of: Project) => `/dashboard/projects/${of.slug}/settings/domains`;
  const pathOf = ({ id }: CustomDomain, of = project) => `${settings(of)}/${id}`;

  const newProject = async (name: string): Promise<Project> => {
    const started = await sites.startProject(owner.accountId, name);
    await deployEntries(dashboard.container, started, entry('index.html'));
    return started;
  };

  beforeAll(async () => {
    domains = dashboard.container.get(DomainsKey);
    sites = dashboard.container.get(SitesKey);
    owner = await dashboard.newOwner();
    project = await newProject('Birds');
  });
  beforeEach(async () => {
    domain = await domains.addDomain(project, `shop-${(hosts += 1)}.birds.test`);
    path = pathOf(domain);
  });

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
    test('can be read to its end page by page, without scripts', async () => {
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

    test('keeps its older page in place while new entries arrive', async () => {
      await record(1, 45);
      const { text } = await owner.visitor.get(path);
      const older = (linkIn(text, 'Older entries') ?? '').replace(/#.*/, '');
      const stream = await DashboardStream.open(owner.visitor, older);
      await stream.shows('answer 25.');
      await record(46, 50);
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
    let newest: string;
    beforeEach(async () => {
      await record(1, 25);
      await domains.removeDomain(domain);
      again = await domains.addDomain(project, domain.host);
      earlier = path;
      newest = pathOf(again);
    });

    test('can be opened from the list of removed domains, with its complete timeline', async () => {
      const list = await owner.visitor.get(`${settings(project)}?state=removed`);
      const links = elementsIn(list.text, 'a').map(({ attributes }) => attributes['href']);
      expect(links).toContain(`${earlier}?state=removed`);
      const { text } = await owner.visitor.get(earlier);
      const older = linkIn(text, 'Older entries');
      expect(older).toMatch(new RegExp(`${domain.id}\\?before=\\d+#timeline$`));
      const next = await owner.visitor.get(older ?? '');
      const all = [...numbersIn(text), ...numbersIn(next.text)];
      expect(all).toEqual(Array.from({ length: 25 }, (_, n) => 25 - n));
      expect(linkIn(next.text, 'Back to the newest entries')).toBe(`${earlier}#timeline`);
    });

    test('is read-only and links to the newest one', async () => {
      const { text } = await owner.visitor.get(earlier);
      expect(elementsIn(text, 'button').map((button) => button.text)).not.toContain('Verify');
      expect(text).not.toContain('/remove');
      expect(text).not.toContain(again.token);
      expect(text).toContain('earlier attachment');
      expect(linkIn(text, 'Go to the newest attachment')).toBe(newest);
      const forced = await owner.visitor.post(earlier);
      expect(forced.status).toBe(422);
      expect(await domains.getDomain(project.id, again.host)).toEqual(again);
    });
  });

  test('a name that is added twice is refused, and the page names the project that has it', async () => {
    const other = await newProject('Cats & dogs');
    const add = async (to: Project) => {
      const form = elementsIn((await owner.visitor.get(settings(to))).text, 'input');
      const once = form.find(({ attributes }) => attributes['name'] === 'once')?.attributes[
        'value'
      ];
      return owner.visitor.post(settings(to), { domain: domain.host, once: once ?? '' });
    };
    expect((await add(project)).text).toContain(`${domain.host} is in the list of this project`);
    const refused = await add(other);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Your project &quot;Birds&quot; has');
  });
});
