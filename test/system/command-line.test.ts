import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { knownMigrations } from '../../src/adapters/kysely/migrations.ts';
import { SystemClock } from '../../src/adapters/system/system-ports.ts';
import { openDatabase } from '../support/servers/databases.ts';
import { newHome, type Home } from '../support/service/service-process.ts';

const migrations = Object.keys(knownMigrations);
const secretShape = /^pets_live_[0-9A-Za-z]{38}$/;
const moment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

let home: Home;
beforeAll(async () => {
  home = await newHome('sqlite');
});
afterAll(() => home.remove());

const json = async <T = Record<string, unknown>>(line: string, ...rest: string[]): Promise<T> => {
  const { code, stdout, stderr } = await home.run([...line.split(' '), ...rest, '--json']);
  expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' });
  expect(stdout).toMatch(/^[{[].*[}\]]\n$/);
  return JSON.parse(stdout) as T;
};

interface NewAccount {
  readonly account: { readonly id: string };
  readonly key: { readonly id: string; readonly secret: string };
}
const openAccount = (email: string) =>
  json<NewAccount>(`account create --name Zoo --email ${email} --plan pro`);

describe('animal-store', () => {
  test('migrates the schema', async () => {
    expect(await json('migrate status')).toEqual(
      migrations.map((name) => ({ name, isKnown: true })),
    );
    expect(await json('migrate up')).toEqual({ applied: migrations });
    expect(await json('migrate up')).toEqual({ applied: [] });
    const executedAt = expect.stringMatching(moment);
    expect(await json('migrate status')).toEqual(
      migrations.map((name) => ({ name, executedAt, isKnown: true })),
    );
    const status = ['migrate', 'status'];
    expect(await home.execute(status)).toEqual(await home.run(status));
  });

  test('names what a newer release has changed in the schema, and then does nothing else', async () => {
    const database = openDatabase(home.settings['DATABASE_URL'] ?? '');
    const { root } = database;
    const table = 'kysely_migration' as never;
    const newer = { name: '9999-newer', timestamp: '2026-01-01T00:00:00.000Z' };
    await root.insertInto(table).values(newer).execute();
    const { stdout } = await home.run(['migrate', 'status']);
    expect(stdout).toMatch(/^9999-newer +2026-01-01T00:00:00\.000Z by a newer release$/m);
    const { code, stderr } = await home.run(['account', 'list']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('does not know 9999-newer.')]);
    await root
      .deleteFrom(table)
      .where('name' as never, '=', newer.name as never)
      .execute();
    await database.close();
  });

  test('opens accounts and changes their plans', async () => {
    const { account, key } = await openAccount('Owner@Zoo.example');
    expect(account).toMatchObject({ id: expect.any(String), name: 'Zoo', plan: 'pro' });
    expect(key).toEqual({ id: expect.any(String), secret: expect.stringMatching(secretShape) });
    const changed = await json(`account set-plan --account ${account.id} --plan business`);
    expect(changed).toMatchObject({ id: account.id, plan: 'business' });
    const another = await openAccount('owner@zoo.example');
    expect(await json('account list')).toMatchObject([
      { id: account.id, name: 'Zoo', plan: 'business' },
      { id: another.account.id, email: 'owner@zoo.example', plan: 'pro' },
    ]);
    // The second account's own person, who is known elsewhere by the same address.
    const invite = `user invite --account ${another.account.id} --email owner@zoo.example`;
    const invited = await json<{ readonly user: { readonly id: string } }>(invite);
    expect(await json(`user list --account ${another.account.id}`)).toMatchObject([
      { id: invited.user.id, email: 'owner@zoo.example' },
    ]);
  });

  test('issues, lists and revokes keys without listing a secret', async () => {
    const { account } = await openAccount('keys@zoo.example');
    const { key } = await json<NewAccount>(
      `key create --account ${account.id} --name CI --scopes pets:read,orders:read --expires 2099-01-01`,
    );
    expect(key).toMatchObject({
      name: 'CI',
      scopes: ['pets:read', 'orders:read'],
      expiresAt: '2099-01-01T00:00:00.000Z',
      secret: expect.stringMatching(secretShape),
    });
    const revoked = { id: key.id, revokedAt: expect.stringMatching(moment) };
    expect(await json(`key revoke --key ${key.id}`)).toMatchObject(revoked);
    const database = openDatabase(home.settings['DATABASE_URL'] ?? '');
    const expired = { expires_at: BigInt(Date.parse('2020-01-01')) };
    const keys = database.db.updateTable('api_keys').set(expired);
    await keys.where('account_id', '=', account.id).where('name', '=', 'First key').execute();
    await database.close();
    const [list, table] = await Promise.all([
      json<readonly object[]>(`key list --account ${account.id}`),
      home.run(['key', 'list', '--account', account.id]),
    ]);
    expect(list).toMatchObject([{ name: 'First key', revokedAt: null }, revoked]);
    expect(table.stdout).toContain('expired 2020-01-01T00:00:00.000Z');
    for (const shown of [JSON.stringify(list), table.stdout]) {
      expect(shown).toContain(key.id);
      expect(shown).not.toMatch(/pets_live_[0-9A-Za-z]{38}|"secret|[0-9a-f]{64}/);
    }
  });

  test('names the command that restores a deleted account, and changes no account until then', async () => {
    const { account } = await openAccount('deleted@zoo.example');
    const id = account.id;
    await json(`project create --account ${id} --name Cats`);
    const database = openDatabase(home.settings['DATABASE_URL'] ?? '');
    const deletedAt = BigInt(new SystemClock().now().getTime());
    await database.db
      .updateTable('accounts')
      .set({ deleted_at: deletedAt })
      .where('id', '=', id)
      .execute();
    await database.close();
    for (const line of [
      `key create --account ${id} --name CI`,
      `pet reserve --account ${id} --pet 1`,
      'domain add shop.example.com --project cats',
    ]) {
      const { code, stderr } = await home.run(line.split(' '));
      expect([line, code, stderr]).toEqual([
        line,
        1,
        expect.stringContaining(`account restore --account ${id}`),
      ]);
    }
    await json(`account restore --account ${id}`);
    await json(`key create --account ${id} --name CI`);
  });

  test('creates projects, each under its own slug', async () => {
    const { account } = await openAccount('projects@zoo.example');
    const create = () =>
      json(`project create --account ${account.id} --name`, 'Zoë’s Birds!').then(
        ({ project }) => project,
      );
    const made = [await create(), await create()];
    expect(made).toEqual([
      { id: expect.any(String), slug: 'zoes-birds', name: 'Zoë’s Birds!' },
      { id: expect.any(String), slug: 'zoes-birds-2', name: 'Zoë’s Birds!' },
    ]);
    expect(await json(`project list --account ${account.id}`)).toEqual(made);
  });

  test('reserves, releases and sells animals, approves and delivers orders, and records each step', async () => {
    const { account, key } = await openAccount('pets@zoo.example');
    const service = await home.start({ ROLES: 'api,worker' });
    const headers = {
      Authorization: `Bearer ${key.secret}`,
      'Content-Type': 'application/json',
    };
    const body = '{"name":"Rex","categoryId":9223372036854775807}';
    const added = await fetch(`${service.origin}/v1/pets`, { method: 'POST', headers, body });
    const { id: pet } = (await added.json()) as { id: number };
    const of = `--account ${account.id}`;
    const reserved = await home.run(`pet reserve ${of} --pet ${pet} --json`.split(' '));
    expect(reserved.stdout).toBe(
      `{"pet":{"id":${pet},"name":"Rex","categoryId":9223372036854775807,"status":"pending"}}\n`,
    );
    expect(await json(`pet release ${of} --pet ${pet}`)).toMatchObject({
      pet: { status: 'available' },
    });
    const { order } = await json<{ order: { id: number } }>(`pet sell ${of} --pet ${pet}`);
    expect(order).toMatchObject({ petId: pet, quantity: 1, status: 'placed' });
    const steps = `${of} --order ${order.id}`;
    expect(await json(`order approve ${steps}`)).toMatchObject({ order: { status: 'approved' } });
    const delivered = await json<{ order: object }>(`order deliver ${steps}`);
    const refused = await Promise.all([
      home.run(`pet sell ${of} --pet ${pet}`.split(' ')),
      home.run(`order approve ${steps}`.split(' ')),
    ]);
    expect(refused).toMatchObject([
      { code: 1, stdout: '', stderr: expect.stringContaining('is sold') },
      { code: 1, stdout: '', stderr: expect.stringContaining('is delivered') },
    ]);
    expect(delivered.order).toMatchObject({ petId: pet, status: 'delivered', complete: true });
    const orders = await fetch(`${service.origin}/v1/store/orders`, { headers });
    expect(await orders.json()).toEqual([delivered.order]);

    const record = await json<readonly { what: string }[]>(`account audit --account ${account.id}`);
    expect(record.map(({ what }) => what).toSorted()).toEqual(
      'account_opened api_key_issued order_approved order_delivered person_invited pet_added pet_released pet_reserved pet_sold sign_in_link_made'.split(
        ' ',
      ),
    );
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});
