import { expect, test } from '@jest/globals';
import { adoptPrimary } from '../../../src/domains/use-cases/domain-settings.ts';
import { changeDomainSettings } from '../../../src/domains/use-cases/domain-settings.ts';
import { domainLab, host, type DomainLab } from '../../support/domains/domain-lab.ts';

const www = 'www.example.com';

/** Brings a domain to that state and delivers its event. @returns the primary domain afterwards */
const goLive = async (lab: DomainLab, name: string): Promise<string | undefined> => {
  const { ports, project, add, point, verify, tendDue } = lab;
  const known = await ports.domains.find(project.id, name);
  const domain = known ?? (await add(project, name));
  point(domain);
  await verify(domain);
  await tendDue();
  const told = { projectId: project.id, host: name };
  await adoptPrimary(ports)(told);
  // An event comes at least once.
  await adoptPrimary(ports)(told);
  return (await ports.settings.read(project.id)).primary;
};

test('the first domain that goes live is the primary, and a later one is not', async () => {
  const lab = await domainLab();
  expect(await goLive(lab, host)).toBe(host);
  expect(await goLive(lab, www)).toBe(host);
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
  expect(await goLive(lab, www)).toBeUndefined();
});

test('the first domain that serves the site becomes the primary, not one that redirects', async () => {
  const lab = await domainLab();
  for (const name of [host, www]) await lab.add(lab.project, name);
  const redirects = [{ from: www, to: host }];
  await changeDomainSettings(lab.ports)(lab.project.id, { redirects });
  expect(await goLive(lab, www)).toBeUndefined();
  expect(await goLive(lab, host)).toBe(host);
});

test('a domain that is removed before its event arrives is not the primary', async () => {
  const lab = await domainLab();
  await lab.remove(await lab.addLive());
  await adoptPrimary(lab.ports)({ projectId: lab.project.id, host });
  expect((await lab.ports.settings.read(lab.project.id)).primary).toBeUndefined();
});
