import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { banApiKey } from '../../src/access/domain/api-key.ts';
import { ApiKeys } from '../../src/access/ports.ts';
import {
  AccessKey,
  CatalogueKey,
  DomainsKey,
  SitesKey,
  WebhookCallsKey,
} from '../../src/app/keys.ts';
import { formsIn } from '../support/dashboard/crawl.ts';
import { addPing } from '../support/dashboard/filling.ts';
import { elementsIn, problemsIn } from '../support/dashboard/markup.ts';
import {
  type Owner,
  type RunningDashboard,
  startDashboard,
} from '../support/dashboard/running-dashboard.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/sites.ts';

// A person who acts in a list returns to the page, search and filter that they were on.

const perPage = 50;
let dashboard: RunningDashboard;
let owner: Owner;
let settings: string;
let webhook: string;
beforeAll(async () => {
  dashboard = await startDashboard();
  owner = await dashboard.newOwner({ plan: 'enterprise' });
  settings = await fillProject();
  await fillAccount();
  webhook = await fillWebhook();
  owner = { ...owner, visitor: await dashboard.signIn(owner.email) };
});
afterAll(() => dashboard.close());

const numbers = Array.from({ length: perPage + 3 }, (_, n) => n + 10);

const fillProject = async (): Promise<string> => {
  const { container, clock } = dashboard;
  const project = await container.get(SitesKey).startProject(owner.accountId, 'Many');
  await deployEntries(container, project, entry('index.html'));
  const domains = container.get(DomainsKey);
  for (const n of numbers) {
    clock.advance(40 * 60_000);
    await domains.addDomain(project, `n${n}.many.test`);
  }
  const to = 'https://elsewhere.test/';
  const redirects = numbers.map((n) => ({ from: `n${n}.many.test`, to, status: 308 }) as const);
  await domains.changeDomainSettings(project.id, { primary: null, redirects });
  return `/dashboard/projects/${project.slug}/settings`;
};

const fillAccount = async (): Promise<void> => {
  const { accountId } = owner;
  const { container } = dashboard;
  const [access, catalogue] = [container.get(AccessKey), container.get(CatalogueKey)];
  const apiKeys = container.get(ApiKeys);
  for (const n of numbers) {
    const { id } = await access.createApiKey({ accountId, name: `Key ${n}` });
    await apiKeys.change(id, (key) => banApiKey(key, dashboard.clock.now()));
    await access.invite(accountId, `keeper-${n}@zoo.example`, 'viewer');
    const animal = { name: `Rex ${n}`, categoryId: 7n, status: 'available' } as const;
    await catalogue.createPet(accountId, animal);
    await catalogue.placeOrder(accountId, (await catalogue.createPet(accountId, animal)).id);
  }
};

const fillWebhook = async (): Promise<string> => {
  const calls = dashboard.container.get(WebhookCallsKey);
  const draft = { address: 'https://hooks.zoo.test/', kinds: ['domain.live'] } as const;
  const { webhook } = await calls.addWebhook(owner.accountId, draft);
  for (const n of numbers) await addPing(dashboard, webhook, `evt_${n}`);
  return `/dashboard/webhooks/${webhook.id}`;
};

const decoded = (address = ''): string => address.replaceAll('&amp;', '&');
const formIn = (text: string, action: RegExp): string => {
  const all = [...text.matchAll(/<form[^>]* action="([^"]*)"/g)].map(([, one]) => decoded(one));
  const [found] = all.filter((one) => action.test(one));
  if (found === undefined) throw new Error(`no form ${String(action)} in ${all.join(' ')}`);
  return found;
};
const linkIn = (text: string, words: string | RegExp): string => {
  const isIt = (link: string) => (typeof words === 'string' ? link === words : words.test(link));
  const found = elementsIn(text, 'a').find((link) => isIt(link.text));
  return found?.attributes['href'] ?? '';
};
const pageAt = async (path: string): Promise<string> => (await owner.visitor.get(path)).text;
const secondPage = async (list: string): Promise<string> =>
  linkIn(await pageAt(list), /^(Next page|Older)/).replace(/#.*/, '');
/** The address without the row and the notice. */
const placeOf = (location = ''): string => {
  const address = new URL(location, 'http://x');
  address.searchParams.delete('done');
  address.searchParams.delete('domain');
  return address.pathname + address.search;
};

const inLists: readonly (readonly [
  what: string,
  list: () => string,
  form: RegExp,
  sent: object,
])[] = [
  ['a redirect is deleted', () => `${settings}/redirects`, /\/delete/, {}],
  ['the primary domain is saved', () => `${settings}/redirects`, /primary-domain/, { primary: '' }],
  ['a domain is verified', () => `${settings}/domains?q=many`, /\/verify\?/, {}],
  ['a ban is lifted', () => '/dashboard/keys', /\/lift-ban/, {}],
  ['a key is revoked', () => '/dashboard/keys', /\/revoke/, {}],
  ['a role is saved', () => '/dashboard/account/people', /\/role/, { role: 'editor' }],
  [
    'a person is removed',
    () => '/dashboard/account/people',
    /\/remove/,
    { once: 'once-in-here-5' },
  ],
  ['an order is approved', () => '/dashboard/orders?status=placed', /\/approve/, {}],
];

test.each(inLists)('after %s, the same page of the list is shown', async (_, list, form, sent) => {
  const second = await secondPage(list());
  expect(second).toContain('?');
  const action = formIn(await pageAt(second), form);
  const { status, location } = await owner.visitor.post(action, { ...sent });
  expect([status, placeOf(location)]).toEqual([303, placeOf(second)]);
});

test('after a delivery is sent again, the same page of deliveries is shown', async () => {
  const second = await secondPage(webhook);
  const text = await pageAt(second);
  expect(formIn(text, /\/off$/)).toBe(`${webhook}/off`);
  const [, id = ''] = /<li id="(whd_\w+)"/.exec(text) ?? [];
  const { location } = await owner.visitor.post(
    `${webhook}/deliveries/${id}/again?${second.split('?')[1] ?? ''}`,
  );
  expect(placeOf(location)).toBe(placeOf(second));
  expect(location).toMatch(new RegExp(`#${id}$`));
});

test('after selected domains are verified or removed, the same page of the list is shown', async () => {
  const second = await secondPage(`${settings}/domains?state=added`);
  const text = await pageAt(second);
  const [, domain = ''] = /name="domain" value="(dom_\w+)"/.exec(text) ?? [];
  const verified = await owner.visitor.post(formIn(text, /verify-domains/), { domain });
  expect(placeOf(verified.location)).toBe(placeOf(second));
  // The browser sends the fields of the form, which are those of the page and the ticked rows.
  const [bulk = ''] = /<form id="selected"[^]*?<\/form>/.exec(text) ?? [];
  const fields = new URLSearchParams({ domain });
  for (const { attributes } of elementsIn(bulk, 'input')) {
    fields.set(attributes['name'] ?? '', attributes['value'] ?? '');
  }
  const asked = await pageAt(`${settings}/remove-domains?${fields.toString()}`);
  expect(linkIn(asked, 'Cancel')).toBe(second);
  const removed = await owner.visitor.post(formIn(asked, /remove-domains/), { domain });
  expect(placeOf(removed.location)).toBe(placeOf(second));
});

test('a redirect that is edited keeps its place, also after a refusal', async () => {
  const list = `${settings}/redirects`;
  const second = await secondPage(list);
  const edit = linkIn(await pageAt(second), 'Edit');
  const text = await pageAt(edit);
  expect(linkIn(text, 'Cancel')).toBe(second);
  const from = /redirects\/([^/]+)\/edit/.exec(formIn(text, /\/edit/))?.[1] ?? '';
  const send = (page: string, to: string) =>
    owner.visitor.post(formIn(page, /\/edit/), { from, to, status: '307', once: 'once-in-here' });
  const refused = await send(text, from);
  expect(refused.status).toBe(422);
  expect(formIn(refused.text, /\/edit/)).toContain(edit.split('?')[1]);
  expect(Object.values(problemsIn(refused.text))).toHaveLength(1);
  const reloaded = await owner.visitor.get(formIn(text, /\/edit/));
  expect(reloaded.location).toBe(edit);
  const saved = await send(refused.text, 'https://other.test/shop');
  expect(placeOf(saved.location)).toBe(second);
  expect(await pageAt(second)).toContain('https://other.test/shop');
});

test('the page of a thing leads back to the page of the list, after an action too', async () => {
  const second = await secondPage('/dashboard/animals?status=available&order=oldest');
  const animal = linkIn(await pageAt(second), /^Rex/);
  const text = await pageAt(animal);
  expect(linkIn(text, 'Animals')).not.toBe(second);
  expect(text).toContain(`<a href="${second.replaceAll('&', '&amp;')}">Animals</a>`);
  const reserved = await owner.visitor.post(formIn(text, /\/reserve/));
  expect(placeOf(reserved.location)).toBe(placeOf(animal));
  const deleted = await owner.visitor.post(formIn(text, /\/delete/), { once: 'once-in-here-6' });
  expect(placeOf(deleted.location)).toBe(placeOf(second));
});

test('a domain that is removed leads back to the page of the list', async () => {
  const second = await secondPage(`${settings}/domains?q=many`);
  const place = second.split('?')[1]!;
  const [, id = ''] = /\/domains\/(dom_\w+)\/remove/.exec(await pageAt(second)) ?? [];
  const asked = await pageAt(`${settings}/domains/${id}/remove?${place}`);
  const { location = '' } = await owner.visitor.post(formIn(asked, /\/remove/), { attachment: id });
  const removed = await pageAt(location);
  expect(removed).toContain(`<a href="${second.replaceAll('&', '&amp;')}">Domains</a>`);
});

test('the page of a domain keeps the page of the list in its older entries and its links', async () => {
  const second = await secondPage(`${settings}/domains?q=many`);
  const [place = ''] = /\?.*/.exec(second) ?? [];
  const [, id = ''] = /\/domains\/(dom_\w+)\/remove/.exec(await pageAt(second)) ?? [];
  const page = `${settings}/domains/${id}${place}`;
  const older = await pageAt(`${page}&before=1`);
  expect(linkIn(older, 'Back to the newest entries')).toBe(`${page}#timeline`);
  const made = await owner.visitor.post(formIn(await pageAt(page), /\/links/), {
    once: 'once-in-here-4',
  });
  expect(linkIn(made.text, 'I have sent it')).toBe(page);
  const revoked = await owner.visitor.post(formIn(await pageAt(page), /\/revoke/));
  expect(placeOf(revoked.location)).toBe(page);
});

const newProject = async (): Promise<string> => {
  const project = await dashboard.container.get(SitesKey).startProject(owner.accountId, 'Short');
  return `/dashboard/projects/${project.slug}/settings`;
};

const deletedProject = async (): Promise<string> => {
  const sites = dashboard.container.get(SitesKey);
  await sites.deleteProject(await sites.startProject(owner.accountId, 'Gone'));
  return '/dashboard/account/deleted';
};

const failedDeploy = async (): Promise<string> => {
  const { container } = dashboard;
  const project = await container.get(SitesKey).startProject(owner.accountId, 'Failed');
  await deployEntries(container, project, entry('start.html'));
  return `/dashboard/projects/${project.slug}/deploys/1`;
};

const anotherWebhook = async (): Promise<string> => {
  const draft = { address: 'https://other.zoo.test/', kinds: ['domain.live'] } as const;
  const calls = dashboard.container.get(WebhookCallsKey);
  return `/dashboard/webhooks/${(await calls.addWebhook(owner.accountId, draft)).webhook.id}`;
};

const ending: readonly (readonly [what: string, page: () => Promise<string>, form: RegExp])[] = [
  [
    'an animal',
    async () => linkIn(await pageAt('/dashboard/animals?status=available'), /^Rex/),
    /\/delete/,
  ],
  ['a person', () => Promise.resolve('/dashboard/account/people'), /\/remove/],
  ['a deploy', failedDeploy, /\/delete/],
  ['a webhook', anotherWebhook, /\/remove/],
  ['a project', newProject, /settings\/delete/],
  ['a deleted project', deletedProject, /\/restore/],
];

test.each(ending)(
  'a form about %s that is sent three times at once leads to the same page each time',
  async (_, page, action) => {
    const shown = await page();
    const form = formsIn(await pageAt(shown), shown).find((one) => action.test(one.action));
    const fields = { ...form?.fields, confirmed: shown.split('/')[3] ?? '' };
    const send = () => owner.visitor.post(decoded(form?.action), fields);
    const answers = await Promise.all([send(), send(), send()]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(new Set(answers.map(({ location }) => location)).size).toBe(1);
  },
);

test('a rotated key is shown above the page of the list, and leads back to it', async () => {
  const second = await secondPage('/dashboard/keys');
  const action = formIn(await pageAt(second), /\/rotate/);
  const { text } = await owner.visitor.post(action, { overlap: '24h', once: 'once-in-here-2' });
  expect(linkIn(text, 'I have stored it')).toBe(second);
});

test('a page of a list with nothing left on it shows the first page', async () => {
  const [oldest] = await dashboard.container.get(AccessKey).listApiKeys(owner.accountId);
  const namesIn = (text: string) => text.match(/Key \d+/g);
  const left = await pageAt(`/dashboard/keys?after=${oldest!.id}`);
  expect(namesIn(left)).toEqual(namesIn(await pageAt('/dashboard/keys')));
});

test('the example of a new key that may only deploy to one project names it', async () => {
  const draft = { name: 'Laptop', scopes: 'deploys:write', expires: '', project: 'many' };
  const { text } = await owner.visitor.post('/dashboard/keys', {
    ...draft,
    once: 'once-in-here-3',
  });
  expect(text).toContain(`${dashboard.origin}/deploys/many`);
});

test('the search shows ten projects and animals, and leads to the lists of all only if there are more', async () => {
  const { accountId, visitor } = await dashboard.newOwner({ plan: 'enterprise' });
  const { container } = dashboard;
  const add = async (name: string) => {
    await container.get(SitesKey).startProject(accountId, name);
    const animal = { name, categoryId: 7n, status: 'available' } as const;
    await container.get(CatalogueKey).createPet(accountId, animal);
  };
  const ways = async () => {
    const { text } = await visitor.get('/dashboard/search?q=bird');
    const words = ['All projects with “bird”', 'All animals whose name begins with “bird”'];
    return words.map((one) => decoded(linkIn(text, one)));
  };
  for (const n of numbers.slice(0, 10)) await add(`Bird ${n}`);
  expect(await ways()).toEqual(['', '']);
  await add('Bird 99');
  for (const way of await ways()) {
    const { text } = await visitor.get(way);
    expect(new Set(text.match(/Bird \d\d/g)).size).toBe(11);
  }
});
