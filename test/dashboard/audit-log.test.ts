import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AccessKey, CatalogueKey } from '../../src/app/keys.ts';
import { Acting } from '../../src/kernel/acting.ts';
import { elementsIn, textOf } from '../support/dashboard/markup.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';

const now = new Date('2026-03-01T10:00:05Z');
let dashboard: RunningDashboard;
let owner: Owner;
let keyId: string;
beforeAll(async () => {
  dashboard = await startDashboard({ now });
  owner = await dashboard.newOwner();
  const { container } = dashboard;
  const [access, catalogue] = [container.get(AccessKey), container.get(CatalogueKey)];
  keyId = (await access.listApiKeys(owner.accountId))[0]?.id ?? '';
  await container.get(Acting).run(`key:${keyId}`, async () => {
    for (let i = 0; i < 120; i++) {
      await catalogue.createPet(owner.accountId, {
        name: 'Rex',
        categoryId: 7n,
        status: 'available',
      });
    }
  });
  const { person } = await access.invite(owner.accountId, 'keeper@zoo.example');
  await container
    .get(Acting)
    .run('person:keeper@zoo.example', () => access.rotateApiKey(keyId, '24h'));
  await access.dismiss(owner.accountId, person.id);
});
afterAll(() => dashboard.close());

const logAt = async (query: string) => {
  const { text } = await owner.visitor.get(`/dashboard/account${query}`);
  const log = text.slice(text.indexOf('id="audit-log"'));
  return {
    log,
    what: elementsIn(log, 'summary').map((one) => one.text),
    next: elementsIn(log, 'a').find(({ attributes }) => attributes['rel'] === 'next')?.attributes[
      'href'
    ],
  };
};

test('every entry shows its exact time', async () => {
  const { log } = await logAt('');
  expect(elementsIn(log, 'th').map((one) => one.text)).toEqual(['Time (UTC)', 'Who', 'What']);
  expect(textOf(log)).toContain('2026-03-01 10:00:05');
  expect(log).not.toContain('data-relative');
});

test('entries are found by what they are about', async () => {
  const { what } = await logAt('?what=keys');
  expect(what).toEqual([
    'Rotated the API key First key; the old secret is valid until 2026-03-02 10:00 UTC',
    'Created the API key First key',
  ]);
});

test('entries can be filtered by person, even a removed one, and by person and topic together', async () => {
  const who = encodeURIComponent('person:keeper@zoo.example');
  const { what, log } = await logAt(`?who=${who}`);
  expect(what).toEqual([expect.stringContaining('Rotated the API key')]);
  const chosen = elementsIn(log, 'option').filter(({ attributes }) => 'selected' in attributes);
  expect(chosen.map((one) => one.text)).toEqual(['keeper@zoo.example', 'Everything']);
  const everybody = await logAt('');
  const actors = elementsIn(everybody.log, 'option').map((one) => one.text);
  expect(actors).toEqual(
    expect.arrayContaining([owner.email, 'keeper@zoo.example', 'API key First key']),
  );
  expect((await logAt(`?who=${who}&what=animals`)).what).toEqual([]);
  expect((await logAt(`?who=${who}&what=animals`)).log).toContain('No entries match this filter.');
});

test('older entries of the same kind follow, each of them once', async () => {
  const seen: string[] = [];
  let query = `?what=animals&who=${encodeURIComponent(`key:${keyId}`)}`;
  for (let page = 0; page < 3; page++) {
    const { what, next } = await logAt(query);
    seen.push(...what);
    if (page < 2) expect(next).toMatch(/^\/dashboard\/account\?.*#audit-log$/);
    query = new URL(next ?? '', dashboard.origin).search;
  }
  expect(seen).toHaveLength(120);
  expect(new Set(seen).size).toBe(120);
});

test.each(['?what=nonsense', '?what=constructor', '?before=yesterday', '?who='])(
  'invalid filters are ignored: %s',
  async (query) => {
    expect((await logAt(query)).what).toHaveLength(50);
  },
);
