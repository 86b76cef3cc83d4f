import {
  changeDomainSettings,
  editDomainSettings,
  showDomainSettings,
} from '../../../src/domains/use-cases/domain-settings.ts';
import { takeEvents } from '../../support/accounts.ts';
import { closeLabs, domainLab, host } from '../../support/domains/domain-lab.ts';
import { codeOf } from '../../support/race.ts';
import { afterEach, expect, test } from '@jest/globals';

afterEach(closeLabs);

const www = 'www.example.com';
const away = { from: www, to: host, status: 301 } as const;

test('a project has no settings until they are changed', async () => {
  const { ports, project } = await domainLab();
  const document = { domains: { redirects: [] } };
  expect(await showDomainSettings(ports)(project.id)).toEqual({
    document,
    suspended: {},
    isPrimaryOpen: true,
  });
});

test('a redirect is stored as it was written, and works while its target is live', async () => {
  const lab = await domainLab();
  const target = await lab.add();
  await lab.add(lab.project, away.from);
  await changeDomainSettings(lab.ports)(lab.project.id, { primary: host, redirects: [away] });
  const suspended = async () => {
    const view = await showDomainSettings(lab.ports)(lab.project.id);
    expect(view.document.domains).toEqual({ primary: host, redirects: [away] });
    return view.suspended;
  };
  expect(await suspended()).toEqual({ [away.from]: `Suspended until ${host} is live.` });
  lab.point(target);
  await lab.verify(target);
  await lab.tendDue();
  expect(await suspended()).toEqual({});
  await lab.remove(target);
  expect(await suspended()).toEqual({ [away.from]: `Suspended until ${host} is live.` });
});

test('a change is recorded with the new settings, unless it is refused or changes nothing', async () => {
  const { add, ports, project, clock, stores } = await domainLab();
  await add();
  await add(project, away.from);
  const change = changeDomainSettings(ports);
  await change(project.id, { primary: host, redirects: [away] });
  await change(project.id, { primary: host, redirects: [{ ...away, to: host.toUpperCase() }] });
  const stranger = { ...away, from: 'www.stranger.com' };
  await change(project.id, { redirects: [stranger] }).catch(codeOf);
  await change(project.id, { redirects: [] });
  const about = { projectId: project.id, accountId: project.accountId, occurredAt: clock.now() };
  const told = { type: 'domain_settings_changed', ...about };
  expect((await takeEvents(stores)).filter(({ type }) => type === told.type)).toEqual([
    { ...told, primary: host, redirects: 1 },
    { ...told, primary: '', redirects: 0 },
  ]);
});

const elsewhere = { from: host, to: 'https://example.com/shop', status: 302 } as const;

test('changing a part of the settings keeps the rest', async () => {
  const { ports, project, add } = await domainLab();
  await add();
  await add(project, www);
  const edit = editDomainSettings(ports);
  await edit(project.id, (settings) => ({ ...settings, redirects: [away] }));
  const { document } = await edit(project.id, (settings) => ({ ...settings, primary: host }));
  expect(document.domains).toEqual({ primary: host, redirects: [away] });
});

test('neither of two concurrent changes undoes the other', async () => {
  const { ports, project, add } = await domainLab();
  await add();
  await add(project, www);
  const edit = editDomainSettings(ports);
  const redirect = (one: typeof away | { from: string; to: string }) =>
    edit(project.id, ({ redirects }) => ({ redirects: [...redirects, one] }));
  await Promise.all([
    redirect({ from: www, to: 'https://example.com/a' }),
    redirect({ from: host, to: 'https://example.com/b' }),
  ]);
  const { document } = await edit(project.id, (settings) => settings);
  expect(document.domains.redirects.map(({ from }) => from).sort()).toEqual([host, www]);
});

test('settings of a removed domain do not block a change, and are dropped', async () => {
  const { ports, project, add, remove } = await domainLab();
  const target = await add();
  await add(project, www);
  const edit = editDomainSettings(ports);
  await edit(project.id, () => ({ primary: host, redirects: [away] }));
  await remove(target);
  const { document } = await edit(project.id, (settings) => ({
    ...settings,
    redirects: [...settings.redirects, { ...elsewhere, from: www }],
  }));
  expect(document.domains).toEqual({ redirects: [{ ...elsewhere, from: www }] });
});
