import { afterEach, expect, test } from '@jest/globals';
import { readDomainSettings, writeDomainSettings } from '../../../src/app/domain-settings/text.ts';
import {
  adoptPrimary,
  changeDomainSettings,
  editDomainSettings,
  showDomainSettings,
} from '../../../src/domains/use-cases/domain-settings.ts';
import { takeEvents } from '../../support/accounts.ts';
import { minute } from '../../support/domains/known-domains.ts';
import { closeLabs, domainLab, host, type DomainLab } from '../../support/domains/domain-lab.ts';

afterEach(closeLabs);

const www = 'www.example.com';

const primaryOf = async ({ ports, project }: DomainLab) =>
  (await ports.settings.read(project.id)).primary;

/** Delivers the event of a domain that went live or was removed; an event comes at least once. */
const deliver = async ({ ports, project }: DomainLab) => {
  for (let times = 1; times <= 2; times++) await adoptPrimary(ports)(project.id);
};

/** Brings a domain to that state; its event is still under way. */
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

test('the first domain that goes live is the primary, and a later one is not', async () => {
  const lab = await domainLab();
  expect(await goLive(lab, host)).toBe(host);
  expect(await goLive(lab, www)).toBe(host);
});

test('a domain that went live before the event of an earlier one arrived does not take its place', async () => {
  const lab = await domainLab();
  for (const name of [host, www]) await lab.add(lab.project, name);
  for (const name of [www, host]) await becomeLive(lab, name);
  await deliver(lab);
  expect(await primaryOf(lab)).toBe(www);
});

test('a primary that somebody chose stays', async () => {
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
])('somebody who chose none before any domain was live %s gets none', async (_, primary) => {
  const lab = await domainLab();
  await changeDomainSettings(lab.ports)(lab.project.id, { primary, redirects: [] });
  expect(await goLive(lab, host)).toBeNull();
  const redirects = [{ from: www, to: host }];
  await lab.add(lab.project, www);
  await editDomainSettings(lab.ports)(lab.project.id, (all) => ({ ...all, redirects }));
  expect(await primaryOf(lab)).toBeNull();
});

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

test('a domain that is removed before its event arrives is not the primary', async () => {
  const lab = await domainLab();
  await lab.remove(await lab.addLive());
  await deliver(lab);
  expect(await primaryOf(lab)).toBeUndefined();
});

test('when the primary is removed, the next live domain takes its place', async () => {
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
