import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { AccessKey } from '../../src/app/keys.ts';
import { UsageLog } from '../../src/access/ports.ts';
import { elementsIn, textOf } from '../support/dashboard/markup.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';

const now = new Date('2026-03-01T16:19:05Z');
const hour = new Date('2026-03-01T15:00:00Z');

let dashboard: RunningDashboard;
let owner: Owner;
beforeAll(async () => {
  dashboard = await startDashboard({ now });
});
afterAll(() => dashboard.close());
beforeEach(async () => {
  owner = await dashboard.newOwner();
});

test('usage is shown for each key, and downloaded as CSV hour by hour, for this account only', async () => {
  const access = dashboard.container.get(AccessKey);
  const till = await access.createApiKey({ accountId: owner.accountId, name: '=Till' });
  const used = { accountId: owner.accountId, keyId: till.id, operation: 'listPets', hour };
  const old = new Date(hour.getTime() - 5 * 86_400_000);
  await dashboard.container.get(UsageLog).add(
    [
      { ...used, outcome: '2xx', requests: 12_345 },
      { ...used, outcome: 'refused', requests: 67 },
      { ...used, outcome: '2xx', requests: 8, hour: old },
    ],
    new Map(),
  );
  const { text } = await owner.visitor.get('/dashboard/usage');
  expect(textOf(text)).toMatch(/By API key .* =Till 12,412 0 67/);
  const rows = async (query: string, by = owner) =>
    (await by.visitor.get(`/dashboard/usage.csv${query}`)).text.trim().split('\r\n').slice(1);
  const today = [
    "2026-03-01T15:00:00.000Z,'=Till,listPets,2xx,12345",
    "2026-03-01T15:00:00.000Z,'=Till,listPets,refused,67",
  ];
  expect(await rows('')).toEqual(today);
  expect(await rows('?range=30d')).toEqual([
    "2026-02-24T15:00:00.000Z,'=Till,listPets,2xx,8",
    ...today,
  ]);
  expect(await rows('', await dashboard.newOwner())).toEqual([]);
});

test('the chart and the CSV show only the key in the address, and nothing for a key of another account', async () => {
  const access = dashboard.container.get(AccessKey);
  const newKey = (accountId: string, name: string) => access.createApiKey({ accountId, name });
  const { accountId: rivalId } = await dashboard.newOwner();
  const [till, web, rival] = [
    await newKey(owner.accountId, 'Till'),
    await newKey(owner.accountId, 'Web'),
    await newKey(rivalId, 'Rival'),
  ];
  const used = { accountId: owner.accountId, operation: 'listPets', outcome: '2xx', hour } as const;
  await dashboard.container.get(UsageLog).add(
    [
      { ...used, keyId: till.id, requests: 30 },
      { ...used, keyId: web.id, requests: 12 },
      { ...used, accountId: rivalId, keyId: rival.id, requests: 500 },
    ],
    new Map(),
  );
  const chartOf = async (path: string) => {
    const { text } = await owner.visitor.get(path);
    const all = elementsIn(text, 'svg').flatMap(
      ({ attributes }) => /: (\d+) in all/.exec(attributes['aria-label'] ?? '')?.[1] ?? [],
    );
    const chosen = elementsIn(text, 'a').filter(({ attributes }) => attributes['aria-current']);
    return [
      all.map(Number),
      chosen.map((one) => one.text).filter((one) => /key|Till|Web/.test(one)),
    ];
  };
  const { text } = await owner.visitor.get('/dashboard/usage');
  const leading = elementsIn(text, 'a').find((one) => one.text === 'Till');
  expect(await chartOf('/dashboard/usage')).toEqual([[42], ['All keys']]);
  expect(await chartOf(leading?.attributes['href'] ?? '')).toEqual([[30], ['Till 30']]);
  expect(await chartOf(`/dashboard/usage?range=30d&key=${web.id}`)).toEqual([[12], ['Web 12']]);
  expect(await chartOf(`/dashboard/usage?key=${rival.id}`)).toEqual([[], []]);
  const { text: csv } = await owner.visitor.get(`/dashboard/usage.csv?key=${web.id}`);
  expect(csv.trim().split('\r\n').slice(1)).toEqual([`${hour.toISOString()},Web,listPets,2xx,12`]);
});

test('a hundred keys take two pages, and one more is refused beside the form', async () => {
  const access = dashboard.container.get(AccessKey);
  for (let n = 1; n < 100; n++) {
    await access.createApiKey({ accountId: owner.accountId, name: `Key ${n}` });
  }
  const draft = { name: 'Late', scopes: 'pets:read', expires: '', project: '' };
  const refused = await owner.visitor.post('/dashboard/keys', { ...draft, once: 'only-in-this' });
  expect(refused.status).toBe(422);
  expect(textOf(refused.text)).toContain('An account has at most 100 API keys in use.');
  await hasTwoPages('/dashboard/keys');
});

test('revoked keys fold, and take pages of their own', async () => {
  const access = dashboard.container.get(AccessKey);
  const { accountId } = owner;
  for (let n = 1; n <= 60; n++) {
    const { id } = await access.createApiKey({
      accountId,
      name: `Old key ${n}`,
      scopes: ['pets:read'],
    });
    await access.revokeApiKey(id, accountId);
  }
  const oldKeysAt = async (path: string) => {
    const { text } = await owner.visitor.get(path);
    const [fold] = elementsIn(text, 'details').filter(({ text: words }) =>
      words.includes('revoked key'),
    );
    const next = elementsIn(text, 'a').find(({ attributes }) => attributes['rel'] === 'next');
    return {
      names: fold?.text.match(/Old key \d+/g) ?? [],
      isOpen: fold?.attributes['open'] !== undefined,
      next: next?.attributes['href'] ?? '',
    };
  };
  const first = await oldKeysAt('/dashboard/keys');
  const second = await oldKeysAt(first.next);
  expect([first.names.length, first.isOpen]).toEqual([50, false]);
  expect([second.names.length, second.isOpen, second.next]).toEqual([10, true, '']);
  expect(new Set([...first.names, ...second.names]).size).toBe(60);
});

test('a hundred people take two pages', async () => {
  const access = dashboard.container.get(AccessKey);
  for (let n = 1; n < 100; n++) await access.invite(owner.accountId, `keeper-${n}@zoo.example`);
  await hasTwoPages('/dashboard/account/people');
});

const namesAt = async (path: string) => {
  const { text } = await owner.visitor.get(path);
  const cells = elementsIn(text, 'td').filter(({ attributes }) => attributes['class'] === 'name');
  const next = elementsIn(text, 'a').find(({ attributes }) => attributes['rel'] === 'next');
  return { names: cells.map((cell) => cell.text), next: next?.attributes['href'] ?? '' };
};

const hasTwoPages = async (path: string): Promise<void> => {
  const first = await namesAt(path);
  const second = await namesAt(first.next);
  expect([first.names.length, second.names.length, second.next]).toEqual([50, 50, '']);
  expect(new Set([...first.names, ...second.names]).size).toBe(100);
  expect((await namesAt(`${path}?after=nonsense`)).names).toEqual(first.names);
};

test('viewers see keys, but cannot create, rotate or revoke one', async () => {
  const access = dashboard.container.get(AccessKey);
  const invited = await access.invite(owner.accountId, 'viewer@zoo.example', 'viewer');
  const viewer = dashboard.stranger();
  await viewer.post(`/dashboard/sign-in/${invited.secret}`);
  const { text } = await viewer.get('/dashboard/keys');
  expect(textOf(text)).toContain('First key');
  expect(textOf(text)).not.toMatch(/Create key|Rotate|Revoke/);
});
