import { afterEach, expect, test } from '@jest/globals';
import { editDomainSettings } from '../../../src/domains/use-cases/domain-settings.ts';
import { closeLabs, domainLab, host } from '../../support/domains/domain-lab.ts';

afterEach(closeLabs);

const www = 'www.example.com';
const away = { from: www, to: host, status: 301 } as const;
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
