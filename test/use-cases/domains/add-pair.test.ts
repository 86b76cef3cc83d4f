import { afterEach, expect, test } from '@jest/globals';
import { addDomainPair } from '../../../src/domains/use-cases/add-domain.ts';
import {
  adoptPrimary,
  changeDomainSettings,
  showDomainSettings,
} from '../../../src/domains/use-cases/domain-settings.ts';
import { takeEvents } from '../../support/accounts.ts';
import { allowance } from '../../support/domains/known-domains.ts';
import { servedProject } from '../../support/domains/custom-domains.ts';
import { none, records } from '../../support/domains/known-dns.ts';
import { closeLabs, domainLab, type DomainLab } from '../../support/domains/domain-lab.ts';

afterEach(closeLabs);

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
])('with %s comes %s, which redirects to it', async (name, other) => {
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

test('a name that is neither a registrable domain nor its www comes alone', async () => {
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
    message: expect.stringMatching(
      /You can add example\.com by itself, without www\.example\.com\.$/,
    ),
  });
  expect(await hostsOf(lab)).toEqual(['shop.example.com']);
  expect(await redirectsOf(lab)).toEqual([]);
});

test('a pair of which one name is there already is not added, and the message says what can be', async () => {
  const lab = await domainLab();
  await lab.add(lab.project, www);
  const there = 'www.example.com is in the list of this project already.';
  await expect(addPair(lab, bare)).rejects.toMatchObject({
    code: 'domain_taken',
    message: `${there} You can add example.com by itself, without www.example.com.`,
  });
  await expect(addPair(lab, www)).rejects.toMatchObject({
    message: `${there} You can add example.com by itself, without www.example.com.`,
  });
  expect(await hostsOf(lab)).toEqual([www]);
});

test('a pair that is sent once more changes nothing', async () => {
  const lab = await domainLab();
  await addPair(lab, bare);
  await expect(addPair(lab, bare)).rejects.toMatchObject({
    code: 'domain_taken',
    message: 'example.com is in the list of this project already.',
  });
  expect(await redirectsOf(lab)).toHaveLength(1);
});

test('a name that another account has proven is added too, and its owner is told', async () => {
  const lab = await domainLab();
  const other = await servedProject(lab.stores);
  const domain = await lab.add(other, www);
  lab.point(domain);
  await lab.verify(domain);
  expect(await addPair(lab, bare)).toMatchObject({ other: { host: www, state: 'added' } });
  const told = (await takeEvents(lab.stores)).filter(({ type }) => type === 'domain_contested');
  expect(told).toMatchObject([{ projectId: lab.project.id, host: www }]);
});

test('the redirect is in force once both are live, and the name that was typed is the primary', async () => {
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

test('where another redirect leads to the second name, both are added without a redirect', async () => {
  const lab = await domainLab();
  await lab.add(lab.project, 'old.example.com');
  const redirects = [{ from: 'old.example.com', to: `https://${www}`, status: 308 }];
  await changeDomainSettings(lab.ports)(lab.project.id, { redirects });
  const before = await lab.ports.settings.read(lab.project.id);
  await addPair(lab, bare);
  expect(await hostsOf(lab)).toEqual([bare, www, 'old.example.com']);
  expect(await lab.ports.settings.read(lab.project.id)).toEqual(before);
});

test('redirects of other removed domains stay for when these are added again', async () => {
  const lab = await domainLab();
  const gone = await lab.add(lab.project, 'old.example.com');
  const sleeping = { from: gone.host, to: 'https://else.example/', status: 301 } as const;
  await changeDomainSettings(lab.ports)(lab.project.id, { redirects: [sleeping] });
  const [kept] = await redirectsOf(lab);
  await lab.remove(gone);
  await addPair(lab, bare);
  expect(await redirectsOf(lab)).toEqual([kept, { from: www, to: bare, status: 308 }]);
});

test('where no redirect can be added, one of an earlier attachment does not come into force either', async () => {
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

test('a redirect of an earlier attachment of the name gives way', async () => {
  const lab = await domainLab();
  await lab.add(lab.project, 'shop.example.com');
  const earlier = await lab.add(lab.project, bare);
  const redirects = [{ from: bare, to: 'shop.example.com' }];
  await changeDomainSettings(lab.ports)(lab.project.id, { redirects });
  await lab.remove(earlier);
  await addPair(lab, bare);
  expect(await redirectsOf(lab)).toEqual([{ from: www, to: bare, status: 308 }]);
});
