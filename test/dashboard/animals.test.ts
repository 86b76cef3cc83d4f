import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Pet, PetDraft } from '../../src/catalogue/domain/pet.ts';
import { AccessKey, CatalogueKey } from '../../src/app/keys.ts';
import { until } from '../support/until.ts';
import { elementsIn, textOf } from '../support/dashboard/markup.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';
import type { PageAnswer } from '../support/dashboard/visitor.ts';

const animals = '/dashboard/animals';
const largest = '9223372036854775807';

let dashboard: RunningDashboard;
let owner: Owner;
let stranger: Owner;
beforeAll(async () => {
  dashboard = await startDashboard();
  stranger = await dashboard.newOwner();
});
afterAll(() => dashboard.close());
beforeEach(async () => {
  owner = await dashboard.newOwner();
});

const catalogue = () => dashboard.container.get(CatalogueKey);
const add = (name: string, more: Partial<PetDraft> = {}): Promise<Pet> =>
  catalogue().createPet(owner.accountId, { name, categoryId: 7n, status: 'available', ...more });
const all = async (): Promise<readonly Pet[]> =>
  catalogue().listPets(owner.accountId, { after: 0n, limit: 20_000 });
const pathOf = ({ id }: Pet): string => `${animals}/${id}`;

const namesIn = ({ text }: PageAnswer): readonly string[] =>
  elementsIn(text, 'td')
    .filter(({ attributes }) => attributes['class'] === 'name')
    .map((cell) => cell.text);

const linkIn = ({ text }: PageAnswer, words: string): string | undefined =>
  elementsIn(text, 'a').find((link) => link.text === words)?.attributes['href'];

describe('the list of animals', () => {
  test('has 50 animals on a page, and lists each animal once', async () => {
    await catalogue().createPets(
      owner.accountId,
      Array.from({ length: 120 }, (_, n) => ({
        name: n % 2 === 0 ? 'Rex' : `Max ${n}`,
        categoryId: 7n,
        status: 'available',
      })),
    );
    for (const query of ['', '?order=name', '?q=rex', '?category=7&order=oldest']) {
      const names: string[] = [];
      let page = await owner.visitor.get(animals + query);
      for (let next = linkIn(page, 'Next page'); ; next = linkIn(page, 'Next page')) {
        names.push(...namesIn(page));
        if (next === undefined) break;
        expect(namesIn(page)).toHaveLength(50);
        page = await owner.visitor.get(next);
      }
      expect(names).toHaveLength(query === '?q=rex' ? 60 : 120);
      expect(new Set(names).size).toBe(query === '?q=rex' ? 1 : 61);
      if (query !== '?q=rex')
        expect(namesIn(await owner.visitor.get(linkIn(page, 'First page') ?? ''))).toEqual(
          names.slice(0, 50),
        );
    }
  });

  test('shows the filters of its address, and offers to remove them', async () => {
    const [rex, bella] = [await add('Rex'), await add('Bella', { categoryId: 8n, status: 'sold' })];
    const at = async (query: string) => namesIn(await owner.visitor.get(`${animals}?${query}`));
    expect(await at('')).toEqual(['Bella', 'Rex']);
    expect(await at('q=BELL')).toEqual(['Bella']);
    expect(await at(`q=${rex.id}`)).toEqual(['Rex']);
    expect(await at('status=sold&category=8&q=b')).toEqual(['Bella']);
    expect(await at('order=oldest')).toEqual(['Rex', 'Bella']);
    expect(await at(`q=${bella.id}&status=available`)).toEqual([]);
    const none = await owner.visitor.get(`${animals}?q=nobody`);
    expect(none.text).toContain('No animals match');
    expect(linkIn(none, 'Show all')).toBe(animals);
    const foreign = await stranger.visitor.get(`${animals}?q=${rex.id}`);
    expect(namesIn(foreign)).toEqual([]);
  });

  test.each([
    'status=lost',
    'category=-1',
    `category=${largest}0`,
    'order=price',
    'after=x',
    `after=${'9'.repeat(30)}.Rex`,
    `q=${'%00'.repeat(3)}`,
    'q=%27%3B+drop+table+pets',
    'q=%25',
  ])('answers an unusual address: %.80s', async (query) => {
    await add('Rex');
    const page = await owner.visitor.get(`${animals}?${query}`);
    expect(page.status).toBe(200);
    expect(namesIn(page)).toEqual(query.startsWith('q=') ? [] : ['Rex']);
  });

  test('says on an empty page what to do next, and offers viewers only what they may do', async () => {
    expect((await owner.visitor.get(animals)).text).toContain('No animals yet');
    const access = dashboard.container.get(AccessKey);
    const invited = await access.invite(owner.accountId, 'viewer@zoo.example', 'viewer');
    const viewer = dashboard.stranger();
    await viewer.post(`/dashboard/sign-in/${invited.secret}`);
    const pet = await add('Rex');
    for (const path of [animals, pathOf(pet)]) {
      const page = await viewer.get(path);
      expect(page.status).toBe(200);
      const buttons = elementsIn(page.text.slice(page.text.indexOf('<main')), 'button');
      expect(buttons.map((button) => button.text)).toEqual(
        path === animals ? ['Search', 'Search'] : [],
      );
    }
    for (const step of ['', '/sell', '/delete']) {
      const refused = await viewer.post(pathOf(pet) + step, { name: 'Max', categoryId: '7' });
      expect(refused.status).toBe(403);
    }
    expect(await all()).toEqual([pet]);
  });

  test('is downloaded as CSV with its filters, and can be imported unchanged', async () => {
    const names = ['=1+1', '+1', '@SUM', 'Bella, "the second"', 'Zoë 🐕', 'Rex'];
    for (const name of names) await add(name, { categoryId: BigInt(largest) });
    await add('Max', { status: 'sold' });
    const file = await owner.visitor.get(`${animals}.csv?status=available&order=oldest`);
    expect(file.headers.get('Content-Type')).toBe('text/csv; charset=utf-8');
    expect(file.headers.get('Content-Disposition')).toBe('attachment; filename="animals.csv"');
    const [head, ...lines] = file.text.trim().split('\r\n');
    expect(head).toMatch(/^\uFEFF?id,name,categoryId,status$/);
    expect(lines[0]).toMatch(new RegExp(`^\\d+,'=1\\+1,${largest},available$`));
    expect(lines).toHaveLength(6);
    const withoutIds = file.text.replaceAll(/^\uFEFF?(?:\d+|id),/gm, '');
    expect((await imported(stranger, withoutIds)).status).toBe(303);
    const read = await catalogue().listPets(stranger.accountId, { after: 0n, limit: 100 });
    expect(read.map(({ name }) => name)).toEqual(names);
  });

  test('is downloaded completely, however many animals there are', async () => {
    const draft = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
    await catalogue().createPets(owner.accountId, Array<PetDraft>(1001).fill(draft));
    for (const query of ['', '?order=name']) {
      const { text } = await owner.visitor.get(`${animals}.csv${query}`);
      const ids = text.trim().split('\r\n').slice(1);
      expect(new Set(ids).size).toBe(1001);
    }
  });
});

const imported = (by: Owner, content: string, once = 'once_once_once'): Promise<PageAnswer> => {
  const body = new FormData();
  body.set('once', once);
  body.set('file', new Blob([content]), 'animals.csv');
  return by.visitor.send(`${animals}/import`, {
    method: 'POST',
    body,
    headers: { 'Sec-Fetch-Site': 'same-origin' },
  });
};

describe('a CSV file of animals', () => {
  test('adds all of its animals once, however often it is sent, and then those of another file', async () => {
    const file = `name,categoryId\r\n${'Rex,7\r\n'.repeat(10_000)}`;
    for (const answer of [await imported(owner, file), await imported(owner, file)]) {
      expect(answer).toMatchObject({
        status: 303,
        location: expect.stringMatching(/done=imported/),
      });
    }
    expect(await all()).toHaveLength(10_000);
    const other = await imported(owner, 'name,categoryId\nMax,7\n');
    expect(other.location).toMatch(/done=imported/);
    expect(await all()).toHaveLength(10_001);
  });

  test('adds nothing when a line is wrong, and the page names the line', async () => {
    const answer = await imported(owner, `name,categoryId\nRex,7\n<b>,9223372036854775808\n`);
    expect(answer.status).toBe(422);
    expect(textOf(answer.text)).toMatch(/1 line is wrong.*3 A category id is a whole number/s);
    const many = await imported(owner, `name,categoryId\n${'Rex,0\n'.repeat(10_000)}`);
    expect(textOf(many.text)).toMatch(/10,000 lines are wrong.*And 9,900 more/s);
    const tooMany = await imported(owner, `name,categoryId\n${'Rex,7\n'.repeat(10_001)}`);
    expect(textOf(tooMany.text)).toContain('A file has at most 10,000 animals.');
    expect(await all()).toEqual([]);
  });

  test('is refused while the account is sending another one', async () => {
    let end = (): void => undefined;
    const body = new ReadableStream({
      start: (writer) => {
        writer.enqueue(Buffer.from('--x\r\n'));
        end = () => {
          writer.close();
        };
      },
    });
    const type = 'multipart/form-data; boundary=x';
    const headers = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': type };
    const slow = { method: 'POST', body, headers, duplex: 'half' } as const;
    const first = owner.visitor.send(`${animals}/import`, slow);
    const empty = { method: 'POST', body: '--x--', headers };
    await until('the first one is received', async () => {
      return (await owner.visitor.send(`${animals}/import`, empty)).status === 503;
    });
    end();
    expect((await first).status).toBe(400);
    expect((await imported(owner, 'name,categoryId\nRex,7\n')).status).toBe(303);
  });

  test('is refused if it is too large or is not sent by a form', async () => {
    expect((await imported(owner, 'x'.repeat(5 * 1024 * 1024))).status).toBe(422);
    expect((await owner.visitor.post(`${animals}/import`, { file: 'x' })).status).toBe(415);
    const none = new FormData();
    none.set('once', 'once_once_once');
    const headers = { 'Sec-Fetch-Site': 'same-origin' };
    const sent = { method: 'POST', body: none, headers };
    expect((await owner.visitor.send(`${animals}/import`, sent)).status).toBe(422);
    const cut = { 'Content-Type': 'multipart/form-data; boundary=x', ...headers };
    const broken = { method: 'POST', body: '--x\r\nContent-Disp', headers: cut };
    expect((await owner.visitor.send(`${animals}/import`, broken)).status).toBe(400);
    expect(await all()).toEqual([]);
  });
});

describe('the page of an animal', () => {
  test('edits, reserves, releases and sells it, and shows who did what', async () => {
    const pet = await add('Rex');
    const path = pathOf(pet);
    const edit = { name: 'Max', categoryId: largest };
    for (const [below, fields] of [
      ['', edit],
      ['', edit],
      ['/reserve', {}],
      ['/release', {}],
      ['/sell', {}],
    ] as const) {
      const { status, location } = await owner.visitor.post(path + below, fields);
      expect({ status, location }).toEqual({
        status: 303,
        location: expect.stringContaining(path),
      });
    }
    const { text } = await owner.visitor.get(path);
    const history = textOf(text.slice(text.indexOf('id="history"')));
    const said = ['Sold', 'Released', 'Reserved', `Changed animal ${pet.id}: Max`, 'Added'];
    expect(history).toMatch(new RegExp(said.join('.*'), 's'));
    expect(history.match(/Changed/g)).toHaveLength(1);
    expect(history).toContain(owner.email);
    expect(textOf(text)).not.toContain('Delete');
    const order = await catalogue().orderOf(owner.accountId, pet.id);
    const link = linkIn(await owner.visitor.get(path), `Order ${String(order?.id)}`);
    expect((await owner.visitor.get(link ?? '')).text).toContain('Approve');
    const late = await owner.visitor.post(`${path}/delete`, { once: 'once_once_once' });
    expect(late.status).toBe(422);
    expect(textOf(late.text)).toContain('is sold and cannot be deleted');
  });

  test('keeps invalid input in its fields, and says what is wrong', async () => {
    const path = pathOf(await add('Rex'));
    const refused = await owner.visitor.post(path, {
      name: '<b>Max',
      categoryId: '9223372036854775808',
    });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('value="&lt;b&gt;Max"');
    expect(textOf(refused.text)).toContain('A category id is a whole number from 1 to');
  });

  test('deletes the animal permanently', async () => {
    const pet = await add('Rex');
    const gone = await owner.visitor.post(`${pathOf(pet)}/delete`, { once: 'once_once_once' });
    expect(gone.location).toMatch(/^\/dashboard\/animals\?done=deleted/);
    const fields = { name: 'Max', categoryId: '7', once: 'twice_twice_twice' };
    for (const again of ['', '/delete', '/sell']) {
      expect((await owner.visitor.post(pathOf(pet) + again, fields)).status).toBe(404);
    }
    expect((await owner.visitor.get(pathOf(pet))).status).toBe(404);
  });

  test('is not found for another account, or for an unknown id', async () => {
    const pet = await add('Rex');
    const order = await catalogue().placeOrder(owner.accountId, (await add('Max')).id);
    const orders = `/dashboard/orders/${order.id}`;
    for (const path of [pathOf(pet), orders, `${animals}/${largest}`, `${animals}/x`]) {
      expect((await stranger.visitor.get(path)).status).toBe(404);
    }
    const fields = { name: 'Max', categoryId: '7', once: 'once_once_once' };
    for (const path of ['', '/sell', '/reserve', '/delete'].map((step) => pathOf(pet) + step)) {
      expect((await stranger.visitor.post(path, fields)).status).toBe(404);
    }
    expect((await stranger.visitor.post(`${orders}/approve`)).status).toBe(404);
    expect(await catalogue().getPet(owner.accountId, pet.id)).toEqual(pet);
  });
});

describe('the list of orders', () => {
  test('approves and delivers orders, and keeps its position', async () => {
    const first = await catalogue().placeOrder(owner.accountId, (await add('Rex')).id);
    await catalogue().placeOrder(owner.accountId, (await add('=Max')).id);
    const path = `/dashboard/orders/${first.id}`;
    const approved = await owner.visitor.post(`${path}/approve?status=placed&list=yes`);
    expect(approved.location).toMatch(/^\/dashboard\/orders\?status=placed&done=approve/);
    expect(approved.location).toMatch(new RegExp(`#order-${first.id}$`));
    const list = await owner.visitor.get('/dashboard/orders?status=placed');
    expect(namesIn(list)).toEqual([expect.stringContaining('=Max')]);
    expect((await owner.visitor.post(`${path}/approve`)).status).toBe(422);
    expect((await owner.visitor.post(`${path}/deliver`)).location).toMatch(
      new RegExp(`^${path}\\?done=deliver`),
    );
    const history = textOf((await owner.visitor.get(path)).text);
    expect(history).toMatch(/Delivered order.*Approved order.*Sold animal.*Added animal/s);
    const { text } = await owner.visitor.get('/dashboard/orders.csv');
    expect(text).toContain(",'=Max,1,");
    expect(text.trim().split('\r\n')).toHaveLength(3);
    expect((await stranger.visitor.get('/dashboard/orders.csv')).text).not.toContain('Max');
  });
});
