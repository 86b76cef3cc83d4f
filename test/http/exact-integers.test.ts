import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { databaseKinds } from '../support/servers/databases.ts';
import { startApi, type RunningApi } from '../support/http/running-api.ts';

const largest = 9223372036854775807n;

describe.each(databaseKinds)('a category id on %s', (kind) => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi(kind);
  });
  afterAll(() => api.close());

  const post = (digits: string) =>
    api.send('/v1/pets', { method: 'POST', body: `{"name":"Rex","categoryId":${digits}}` });

  /** Through JSON, the database, one animal and the list. */
  const roundTrip = async (digits: string): Promise<readonly unknown[]> => {
    const added = await post(digits);
    const { id } = added.body as { id: bigint };
    const one = await api.send(`/v1/pets/${id}`);
    const all = (await api.send('/v1/pets?limit=100')).body as readonly { id: bigint }[];
    const listed = all.find((row) => row.id === id);
    expect(added.text).toContain(`"categoryId":${digits},`);
    expect(one.text).toBe(added.text);
    return [added.body, one.body, listed].map((pet) => (pet as { categoryId: bigint }).categoryId);
  };

  test.each([
    '1',
    '2147483648',
    '4294967296',
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '10000000000000000',
    '999999999999999999',
    '9223372036854775806',
    '9223372036854775807',
  ])('of %s comes back digit for digit', async (digits) => {
    expect(await roundTrip(digits)).toEqual([BigInt(digits), BigInt(digits), BigInt(digits)]);
  });

  test('of any value in range comes back digit for digit', async () => {
    const anyId = fc.oneof(fc.bigInt(1n, largest), fc.bigInt(largest - 5000n, largest));
    await fc.assert(
      fc.asyncProperty(anyId, async (id) => {
        const { status, text } = await post(String(id));
        expect(status).toBe(201);
        expect(text).toContain(`"categoryId":${id},`);
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    '9223372036854775808',
    '18446744073709551615',
    '9'.repeat(40),
    '0',
    '-0',
    '-1',
    '-9223372036854775808',
    '1.5',
    '0.5',
    '1e400',
    '-1e400',
    '1e19',
    '"5"',
    '"9007199254740993"',
    'null',
    'true',
    '[1]',
    '{"value":1}',
  ])('of %s is refused', async (wrong) => {
    const { status, body } = await post(wrong);
    expect(status).toBe(400);
    expect(body).toEqual({
      code: 'validation_failed',
      message: `categoryId must be an integer from 1 to ${largest}.`,
      status: 400n,
    });
  });

  test.each([
    '1.00000000000000000001',
    '0.99999999999999999999',
    '9007199254740991.4',
    '123456789012345.00000001',
    '9007199254740993.0',
    '9007199254740993e0',
    '900719925474099.3e1',
  ])('of %s is refused rather than rounded', async (wrong) => {
    expect((await post(wrong)).status).toBe(400);
  });

  test('beside a name of many digits leaves the name as it is', async () => {
    const body =
      '{"name":"9007199254740993","categoryId":9007199254740993,"x":[12345678901234567890]}';
    const { text } = await api.send('/v1/pets', { method: 'POST', body });
    expect(text).toContain('"name":"9007199254740993","categoryId":9007199254740993,');
  });
});
