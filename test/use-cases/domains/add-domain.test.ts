import { readDomainSettings, writeDomainSettings } from '../../../src/app/domain-settings/text.ts';
import { addCustomDomain, addDomainPair } from '../../../src/domains/use-cases/add-domain.ts';
import {
  adoptPrimary,
  changeDomainSettings,
  editDomainSettings,
  showDomainSettings,
} from '../../../src/domains/use-cases/domain-settings.ts';
import type { Allowance } from '../../../src/sites/domain/project.ts';
import { takeEvents } from '../../support/accounts.ts';
import { servedProject } from '../../support/domains/custom-domains.ts';
import { closeLabs, domainLab, type DomainLab, host } from '../../support/domains/domain-lab.ts';
import { none, records } from '../../support/domains/known-dns.ts';
import { after, allowance, hour, minute, start } from '../../support/domains/known-domains.ts';
import { codeOf } from '../../support/race.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';
import { afterEach, expect, test } from '@jest/globals';

afterEach(closeLabs);

test('a name is added without DNS lookups or requests to an authority', async () => {
  const { ports, project, kinds } = await domainLab();
  const [dns, authority] = [
    mustNotBeUsed<typeof ports.dns>('dns'),
    mustNotBeUsed<typeof ports.authority>('authority'),
  ];
  const all = { ...ports, dns, authority };
  const add = addCustomDomain(all);
  const domain = await add(project, ' Shop.Example.COM. ');
  expect(domain).toMatchObject({ state: 'added', host, addedAt: start, generation: 0 });
  expect(domain.dns.nextCheckAt).toEqual(after(minute));
  expect(await kinds(domain)).toEqual(['added']);
  expect(await ports.domains.find(project.id, host)).toEqual(domain);
});

test('each attachment has its own target label, even when the name is added again', async () => {
  const { add, remove } = await domainLab();
  const first = await add();
  await remove(first);
  const second = await add();
  expect([first.token, second.token]).toEqual([
    expect.stringMatching(/^[a-z0-9-]+$/),
    expect.stringMatching(/^[a-z0-9-]+$/),
  ]);
  expect(first.token).not.toBe(second.token);
});

test('a refused domain leaves nothing behind', async () => {
  const { ports, project, add } = await domainLab();
  const of = (changed: Partial<Allowance>) => ({
    ...ports,
    allowances: { of: () => Promise.resolve({ ...allowance, ...changed }) },
  });
  const refusals = await Promise.all([
    add(project, 'x.sites.test').catch(codeOf),
    addCustomDomain(of({ domains: 0 }))(project, host).catch(codeOf),
  ]);
  expect(refusals).toEqual([expect.any(String), 'plan_upgrade_required']);
  expect(await ports.domains.list(project.id)).toEqual([]);
  await add();
  expect(await add().catch(codeOf)).toBe('domain_taken');
  const full = addCustomDomain(of({ domains: 1 }))(project, 'www.example.com');
  expect(await full.catch(codeOf)).toBe('domain_limit_reached');
});

test('an account can add a limited number of domains per hour, however often it removes them', async () => {
  const lab = await domainLab();
  const limited = { ...allowance, plan: 'Pro', domainsAddedPerHour: 20 };
  const ports = { ...lab.ports, allowances: { of: () => Promise.resolve(limited) } };
  const add = () => addCustomDomain(ports)(lab.project, host);
  for (let n = 0; n < 20; n++) {
    await lab.remove(await add());
    lab.clock.advance(minute);
  }
  const refused = await add().catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'domains_added_too_fast' });
  expect(String(refused)).toContain('On the plan Pro you can add 20 domains in an hour');
  expect(String(refused)).toContain('the next one in 40 minutes');
  const other = await servedProject(lab.stores);
  await addCustomDomain(ports)(other, host);
  lab.clock.set(after(hour));
  await lab.remove(await add());
  expect(await add().catch(codeOf)).toBe('domains_added_too_fast');
});

const [bare, www] = ['example.com', 'www.example.com'];

const addPair = ({ ports, project }: DomainLab, name: string) =>
  addDomainPair(ports)(project, name);
const hostsOf = async ({ ports, project }: DomainLab) =>
  (await ports.domains.list(project.id)).map(({ host }) => host);
const redirectsOf = async ({ ports, project }: DomainLab) =>
  (await ports.settings.read(project.id)).redirects;

test.each([
  [bare, www],
  [www, bare],
  ['WWW.Example.com.', bare],
])('adding %s also adds %s, which redirects to it', async (name, other) => {
  const lab = await domainLab();
  const added = await addPair(lab, name);
  const typed = name.toLowerCase().replace(/\.$/, '');
  expect(added).toMatchObject({ typed: { host: typed }, other: { host: other } });
  expect(added.typed.token).not.toBe(added.other?.token);
  expect(await hostsOf(lab)).toEqual([typed, other]);
  expect(await redirectsOf(lab)).toEqual([{ from: other, to: typed, status: 308 }]);
  const told = (await takeEvents(lab.stores))
    .map(({ type }) => type)
    .filter((one) => one.startsWith('domain'));
  expect(told).toEqual(['domain_added', 'domain_added', 'domain_settings_changed']);
});

test('a name that is neither a registrable domain nor its www is added alone', async () => {
  const lab = await domainLab('acme.test');
  const business = { ...allowance, hasWildcards: true };
  const ports = { ...lab.ports, allowances: { of: () => Promise.resolve(business) } };
  const tooLong = `${`${'a'.repeat(61)}.`.repeat(4)}com`;
  for (const name of [
    'www.com',
    'shop.example.com',
    'www.shop.example.com',
    '*.example.com',
    tooLong,
  ]) {
    expect(await addDomainPair(ports)(lab.project, name)).toMatchObject({
      typed: { host: name },
      other: undefined,
    });
  }
  expect(await redirectsOf(lab)).toEqual([]);
});

const limited = (lab: DomainLab, limits: Partial<typeof allowance>): DomainLab => {
  const allowances = { of: () => Promise.resolve({ ...allowance, plan: 'Pro', ...limits }) };
  return { ...lab, ports: { ...lab.ports, allowances } };
};

test.each([
  ['for which the plan has no room', { domains: 2 }, 'domain_limit_reached'],
  ['that is one too many within the hour', { domainsAddedPerHour: 2 }, 'domains_added_too_fast'],
])('a pair with a second name %s is not added, nor is the first', async (_, limits, code) => {
  const lab = limited(await domainLab(), limits);
  await lab.add(lab.project, 'shop.example.com');
  const refused = addPair(lab, bare);
  await expect(refused).rejects.toMatchObject({
    code,
    message: expect.stringMatching(/You can add example\.com alone, without www\.example\.com\.$/),
  });
  expect(await hostsOf(lab)).toEqual(['shop.example.com']);
  expect(await redirectsOf(lab)).toEqual([]);
});

test('a pair is not added if one of its names exists, and the message says which one can be added', async () => {
  const lab = await domainLab();
  await lab.add(lab.project, www);
  const there = 'www.example.com is in the list of this project already.';
  await expect(addPair(lab, bare)).rejects.toMatchObject({
    code: 'domain_taken',
    message: `${there} You can add example.com alone, without www.example.com.`,
  });
  await expect(addPair(lab, www)).rejects.toMatchObject({
    message: `${there} You can add example.com alone, without www.example.com.`,
  });
  expect(await hostsOf(lab)).toEqual([www]);
});

test('a pair that is sent again changes nothing', async () => {
  const lab = await domainLab();
  await addPair(lab, bare);
  await expect(addPair(lab, bare)).rejects.toMatchObject({
    code: 'domain_taken',
    message: 'example.com is in the list of this project already.',
  });
  expect(await redirectsOf(lab)).toHaveLength(1);
});

test('a name that another account has proven can be added too, and its owner is notified', async () => {
  const lab = await domainLab();
  const other = await servedProject(lab.stores);
  const domain = await lab.add(other, www);
  lab.point(domain);
  await lab.verify(domain);
  expect(await addPair(lab, bare)).toMatchObject({ other: { host: www, state: 'added' } });
  const told = (await takeEvents(lab.stores)).filter(({ type }) => type === 'domain_contested');
  expect(told).toMatchObject([{ projectId: lab.project.id, host: www }]);
});

test('the typed name becomes the primary, and the redirect works once both are live', async () => {
  const lab = await domainLab();
  const { typed, other } = await addPair(lab, bare);
  const why = async () => {
    await adoptPrimary(lab.ports)(lab.project.id);
    const { document, suspended } = await showDomainSettings(lab.ports)(lab.project.id);
    return [document.domains.primary, suspended[www]];
  };
  for (const domain of [other!, typed]) {
    expect(await why()).toEqual([undefined, 'Suspended until example.com is live.']);
    const txt = records(`animal-store-verify=${domain.token}`);
    const apex = { cname: none, a: records('192.0.2.10'), txt } as const;
    lab.point(domain, domain === typed ? apex : {});
    await lab.verify(domain);
    await lab.tendDue();
  }
  expect(await why()).toEqual([bare, undefined]);
});

test('both names are added without a redirect if another redirect leads to the second one', async () => {
  const lab = await domainLab();
  await lab.add(lab.project, 'old.example.com');
  const redirects = [{ from: 'old.example.com', to: `https://${www}`, status: 308 }];
  await changeDomainSettings(lab.ports)(lab.project.id, { redirects });
  const before = await lab.ports.settings.read(lab.project.id);
  await addPair(lab, bare);
  expect(await hostsOf(lab)).toEqual([bare, www, 'old.example.com']);
  expect(await lab.ports.settings.read(lab.project.id)).toEqual(before);
});

test('redirects of other removed domains are kept for when those are added again', async () => {
  const lab = await domainLab();
  const gone = await lab.add(lab.project, 'old.example.com');
  const sleeping = { from: gone.host, to: 'https://else.example/', status: 301 } as const;
  await changeDomainSettings(lab.ports)(lab.project.id, { redirects: [sleeping] });
  const [kept] = await redirectsOf(lab);
  await lab.remove(gone);
  await addPair(lab, bare);
  expect(await redirectsOf(lab)).toEqual([kept, { from: www, to: bare, status: 308 }]);
});

test("an earlier attachment's redirect does not come into force if no redirect can be added", async () => {
  const lab = await domainLab();
  await lab.add(lab.project, 'old.example.com');
  const earlier = await lab.add(lab.project, www);
  const redirects = [
    { from: www, to: 'https://else.example/' },
    { from: 'old.example.com', to: `https://${www}` },
  ];
  for (const one of redirects)
    await lab.ports.settings.change(lab.project.id, (settings) => ({
      state: { ...settings, redirects: [...settings.redirects, { ...one, status: 308 }] },
      events: [],
    }));
  await lab.remove(earlier);
  await addPair(lab, bare);
  expect(await redirectsOf(lab)).toEqual([{ ...redirects[1], status: 308 }]);
});

test('a new pair replaces the redirect of an earlier attachment of the name', async () => {
  const lab = await domainLab();
  await lab.add(lab.project, 'shop.example.com');
  const earlier = await lab.add(lab.project, bare);
  const redirects = [{ from: bare, to: 'shop.example.com' }];
  await changeDomainSettings(lab.ports)(lab.project.id, { redirects });
  await lab.remove(earlier);
  await addPair(lab, bare);
  expect(await redirectsOf(lab)).toEqual([{ from: www, to: bare, status: 308 }]);
});

const primaryOf = async ({ ports, project }: DomainLab) =>
  (await ports.settings.read(project.id)).primary;

/** Delivers the event of a domain that went live or was removed, at least once. */
const deliver = async ({ ports, project }: DomainLab) => {
  for (let times = 1; times <= 2; times++) await adoptPrimary(ports)(project.id);
};

/** Brings a domain to that state before its event is delivered. */
const becomeLive = async (lab: DomainLab, name: string) => {
  const { ports, project, add, point, verify, tendDue, current, clock } = lab;
  const known = await ports.domains.find(project.id, name);
  const domain = known ?? (await add(project, name));
  clock.advance(minute);
  point(domain);
  await verify(domain);
  await tendDue();
  return current(domain);
};

/** @returns the primary domain afterwards */
const goLive = async (lab: DomainLab, name: string) => {
  await becomeLive(lab, name);
  await deliver(lab);
  return primaryOf(lab);
};

test('the first domain that goes live becomes the primary, and a later one does not', async () => {
  const lab = await domainLab();
  expect(await goLive(lab, host)).toBe(host);
  expect(await goLive(lab, www)).toBe(host);
});

test('a domain that went live before the event of an earlier one arrived does not become the primary', async () => {
  const lab = await domainLab();
  for (const name of [host, www]) await lab.add(lab.project, name);
  for (const name of [www, host]) await becomeLive(lab, name);
  await deliver(lab);
  expect(await primaryOf(lab)).toBe(www);
});

test('a primary that a person chose stays the primary', async () => {
  const lab = await domainLab();
  await lab.add(lab.project, www);
  await changeDomainSettings(lab.ports)(lab.project.id, { primary: www, redirects: [] });
  expect(await goLive(lab, host)).toBe(www);
});

test('after the primary was cleared, the next domain that goes live does not become the primary', async () => {
  const lab = await domainLab();
  await goLive(lab, host);
  await changeDomainSettings(lab.ports)(lab.project.id, { redirects: [] });
  expect(await goLive(lab, www)).toBeNull();
});

test.each([
  ['in a document', null],
  ['in the form', ''],
])(
  'a project whose owner chose no primary before any domain was live %s gets none',
  async (_, primary) => {
    const lab = await domainLab();
    await changeDomainSettings(lab.ports)(lab.project.id, { primary, redirects: [] });
    expect(await goLive(lab, host)).toBeNull();
    const redirects = [{ from: www, to: host }];
    await lab.add(lab.project, www);
    await editDomainSettings(lab.ports)(lab.project.id, (all) => ({ ...all, redirects }));
    expect(await primaryOf(lab)).toBeNull();
  },
);

test('redirects that were set up before any domain was live leave the primary open', async () => {
  const lab = await domainLab();
  for (const name of [host, www]) await lab.add(lab.project, name);
  const redirects = [{ from: www, to: 'https://else.example' }];
  await changeDomainSettings(lab.ports)(lab.project.id, { redirects });
  await editDomainSettings(lab.ports)(lab.project.id, (all) => all);
  expect(await goLive(lab, host)).toBe(host);
});

test.each(['yaml', 'json'] as const)(
  'importing an unchanged export as %s, before any domain is live, leaves the primary open',
  async (format) => {
    const lab = await domainLab();
    const { ports, project, stores } = lab;
    const { document } = await showDomainSettings(ports)(project.id);
    const text = writeDomainSettings(document, format);
    await changeDomainSettings(ports)(project.id, readDomainSettings(text));
    expect((await takeEvents(stores)).map(({ type }) => type)).not.toContain(
      'domain_settings_changed',
    );
    expect(await goLive(lab, host)).toBe(host);
  },
);

test('the first domain that serves the site becomes the primary, not one that redirects', async () => {
  const lab = await domainLab();
  for (const name of [host, www]) await lab.add(lab.project, name);
  const redirects = [{ from: www, to: host }];
  await changeDomainSettings(lab.ports)(lab.project.id, { redirects });
  expect(await goLive(lab, www)).toBeUndefined();
  expect(await goLive(lab, host)).toBe(host);
});

test('a live domain whose redirect is deleted becomes the primary if there is none', async () => {
  const lab = await domainLab();
  for (const name of [host, www]) await lab.add(lab.project, name);
  const redirects = [{ from: www, to: host }];
  await changeDomainSettings(lab.ports)(lab.project.id, { redirects });
  await goLive(lab, www);
  await editDomainSettings(lab.ports)(lab.project.id, (all) => ({ ...all, redirects: [] }));
  expect(await primaryOf(lab)).toBe(www);
});

test('a domain that is removed before its event arrives does not become the primary', async () => {
  const lab = await domainLab();
  await lab.remove(await lab.addLive());
  await deliver(lab);
  expect(await primaryOf(lab)).toBeUndefined();
});

test('a removed primary that is added again does not keep its place from a domain that is live', async () => {
  const lab = await domainLab();
  const first = await becomeLive(lab, host);
  await deliver(lab);
  await lab.remove(first);
  await deliver(lab);
  await lab.add(lab.project, host);
  expect(await goLive(lab, www)).toBe(www);
});

test('the next live domain becomes the primary when the primary is removed', async () => {
  const lab = await domainLab();
  const first = await becomeLive(lab, host);
  await deliver(lab);
  await lab.remove(first);
  await deliver(lab);
  expect(await goLive(lab, www)).toBe(www);
  await lab.remove(await becomeLive(lab, 'shop.else.com'));
  await deliver(lab);
  expect(await primaryOf(lab)).toBe(www);
});
