import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { usualKinds } from '../support/servers/databases.ts';
import { startApi, type RunningApi } from '../support/http/running-api.ts';
import { parseExactJson } from '../../src/adapters/http/operations/request-input.ts';
import { exactInteger } from '../../src/adapters/http/operations/schemas.ts';

const largest = 9223372036854775807n;

describe.each(usualKinds)('a category id on %s', (kind) => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi(kind);
  });
  afterAll(() => api.close());

  const post = (digits: string) =>
    api.send('/v1/pets', { method: 'POST', body: `{"name":"Rex","categoryId":${digits}}` });

  /** Tests JSON, the database, one animal and the list. */
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
    ...['1', '2147483648', '4294967296', '9007199254740991', '9007199254740992'],
    ...['9007199254740993', '10000000000000000', '9223372036854775807'],
  ])('of %s is read back exactly', async (digits) => {
    expect(await roundTrip(digits)).toEqual([BigInt(digits), BigInt(digits), BigInt(digits)]);
  });

  test('of any value in range is read back exactly', async () => {
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
    ...['9223372036854775808', '18446744073709551615', '9'.repeat(40), '0', '-0', '-1'],
    ...['-9223372036854775808', '1.5', '1e400', '1e19', '"9007199254740993"', 'null', '[1]'],
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
    ...['1.00000000000000000001', '0.99999999999999999999', '9007199254740991.4'],
    ...['123456789012345.00000001', '9007199254740993.0', '9007199254740993e0'],
  ])('of %s is refused rather than rounded', async (wrong) => {
    expect((await post(wrong)).status).toBe(400);
  });

  test('changes no digits in a name', async () => {
    const body =
      '{"name":"9007199254740993","categoryId":9007199254740993,"x":[12345678901234567890]}';
    const { text } = await api.send('/v1/pets', { method: 'POST', body });
    expect(text).toContain('"name":"9007199254740993","categoryId":9007199254740993,');
  });
});

const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
const unsafe = int64.filter((value) => !Number.isSafeInteger(Number(value)));
const shortNumber = fc.oneof(
  fc.integer(),
  fc.integer().map((value) => value / 8),
);

describe('JSON that keeps every digit', () => {
  test('keeps any int64 exact in both directions', () => {
    const edges = [0n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n), 2n ** 63n - 1n, -(2n ** 63n)];
    fc.assert(
      fc.property(int64, (value) => {
        const text = JSON.stringify({ id: exactInteger(value) });
        expect(text).toBe(`{"id":${String(value)}}`);
        const { id } = parseExactJson(text) as { id: number | bigint };
        expect(BigInt(id)).toBe(value);
        expect(typeof id).toBe(Number.isSafeInteger(Number(value)) ? 'number' : 'bigint');
      }),
      { examples: edges.map((edge) => [edge]) },
    );
  });

  test('reads everything except large integers as JSON.parse does', () => {
    const values = [fc.string(), fc.boolean(), fc.constant(null), shortNumber];
    fc.assert(
      fc.property(fc.object({ values, withNullPrototype: false }), (value) => {
        const any = JSON.stringify(value);
        const text = `{"id":9007199254740991,"any":${any},"-0":-0,"digits":"12345678901234567890"}`;
        expect(parseExactJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('never reads a number with a fraction or an exponent as a different integer', () => {
    const digits = fc.string({ unit: fc.constantFrom(...Array.from('0123456789')), minLength: 1 });
    const exponent = fc.constantFrom('', 'e0', 'E+1', 'e-2');
    fc.assert(
      fc.property(fc.nat(), digits, exponent, (whole, fraction, power) => {
        const value = parseExactJson(`${String(whole)}.${fraction}${power}`);
        const isShort = String(whole).length + fraction.length < 15;
        if (isShort) expect(value).toBe(Number(`${String(whole)}.${fraction}${power}`));
        else expect(Number.isInteger(value) && power === '' && /[1-9]/.test(fraction)).toBe(false);
      }),
    );
    for (const text of ['7.0000000000000001', '9007199254740993e0']) {
      expect(Number.isInteger(parseExactJson(text))).toBe(false);
    }
  });

  test('finds large integers at any depth and under any name', () => {
    fc.assert(
      fc.property(unsafe, fc.string(), fc.nat(500), (value, name, depth) => {
        const key = JSON.stringify(name);
        const text = `${`{${key}:[`.repeat(depth)}${String(value)}${']}'.repeat(depth)}`;
        let inner = parseExactJson(text);
        for (let level = 0; level < depth; level++) {
          [inner] = (inner as Record<string, readonly unknown[]>)[name] ?? [];
        }
        expect(inner).toBe(value);
      }),
      { numRuns: 30, examples: [[2n ** 63n - 1n, '__proto__', 3]] },
    );
  });

  test('accepts any depth when there is no large integer', () => {
    const deep = `${'['.repeat(30_000)}1${']'.repeat(30_000)}`;
    expect(Array.isArray(parseExactJson(deep))).toBe(true);
  });

  test.each(['', '{', '{"a":1234567890123456,}', '[01234567890123456789]', '12345678901234567n'])(
    'refuses %j',
    (text) => {
      expect(() => parseExactJson(text)).toThrow(expect.objectContaining({ name: 'SyntaxError' }));
    },
  );
});
