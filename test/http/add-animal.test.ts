import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { usualKinds } from '../support/servers/databases.ts';
import { publicUrl, startApi, type Answer, type RunningApi } from '../support/http/running-api.ts';

describe.each(usualKinds)('POST /pets on %s', (kind) => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi(kind);
  });
  afterAll(() => api.close());

  const post = (body: unknown): Promise<Answer> =>
    api.send('/v1/pets', {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  const kept = async ({ body }: Answer): Promise<unknown> => {
    const { id } = body as { id: bigint };
    return (await api.send(`/v1/pets/${id}`)).body;
  };

  test('answers 201 with the animal, its new id and the URL where it can be read', async () => {
    const answer = await post({ name: 'Rex', categoryId: 7, status: 'pending' });
    expect(answer.status).toBe(201);
    const { id } = answer.body as { id: bigint };
    expect(answer.body).toEqual({ id, name: 'Rex', categoryId: 7n, status: 'pending' });
    expect(Object.keys(answer.body as object)).toEqual(['id', 'name', 'categoryId', 'status']);
    expect(answer.headers.get('Location')).toBe(`${publicUrl}/pets/${id}`);
    expect(await kept(answer)).toEqual(answer.body);
  });

  test('makes an animal available when no status is given', async () => {
    const { body } = await post({ name: 'Rex', categoryId: 1 });
    expect(body).toMatchObject({ status: 'available' });
  });

  test('ignores unknown fields, and an id in the body', async () => {
    const answer = await post({ id: 424242, name: 'Rex', categoryId: 1, tags: [{ deep: [1] }] });
    expect(answer.status).toBe(201);
    expect(answer.body).not.toMatchObject({ id: 424242n });
    expect(answer.body).not.toHaveProperty('tags');
  });

  test.each([
    ['spaces around it', '  Rex \t\n', 'Rex'],
    ['spaces inside', 'Rex  the   first', 'Rex  the   first'],
    ['other scripts', 'Жучка 狗 كلب', 'Жучка 狗 كلب'],
    ['emoji of several code points', '👩‍👩‍👧‍👦🐕', '👩‍👩‍👧‍👦🐕'],
    ['a combining mark, as it was sent', 'Zoe\u0308', 'Zoe\u0308'],
    ['SQL and markup', `'; drop table pets; -- <b>"&\\%_`, `'; drop table pets; -- <b>"&\\%_`],
    ['a property name of a prototype', '__proto__', '__proto__'],
    ['255 letters', 'x'.repeat(255), 'x'.repeat(255)],
    ['255 code points outside the first plane', '𝔁'.repeat(255), '𝔁'.repeat(255)],
    ['255 letters and spaces around', ` ${'x'.repeat(255)} `, 'x'.repeat(255)],
  ])('keeps a name with %s', async (_, sent, name) => {
    const answer = await post({ name: sent, categoryId: 1 });
    expect(answer.body).toMatchObject({ name });
    expect(await kept(answer)).toMatchObject({ name });
  });

  test.each([
    ['nothing', ''],
    ['spaces only', ' \t\u00a0\u2003 '],
    ['256 letters', 'x'.repeat(256)],
    ['a control character', 'Re\u0000x'],
    ['a number', 5],
    ['null', null],
    ['a list', ['Rex']],
  ])('refuses a name of %s', async (_, name) => {
    const { status, body } = await post({ name, categoryId: 1 });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'validation_failed',
      message: expect.stringMatching(/^name must be text of 1 to 255/),
    });
  });

  test.each(['gone', '', 'Available', null, 1, ['sold'], { status: 'sold' }])(
    'refuses the status %j and lists the valid ones',
    async (wrong) => {
      const { status, body } = await post({ name: 'Rex', categoryId: 1, status: wrong });
      expect(status).toBe(400);
      expect(body).toMatchObject({
        code: 'validation_failed',
        message: 'status must be one of "available", "pending", "sold".',
      });
    },
  );

  test.each([
    ['name', { categoryId: 1 }, /^name is required: text of 1 to 255[^;]*$/],
    ['categoryId', { name: 'Rex' }, /^categoryId is required: an integer[^;]*$/],
    ['both', {}, /^name is required: .*; categoryId is required: /],
    [
      'both, and status is invalid',
      { status: 'x' },
      /name is.*categoryId is.*status must be one of/,
    ],
  ])('says which field is missing: %s', async (_, sent, message) => {
    const { status, body } = await post(sent);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'validation_failed',
      message: expect.stringMatching(message),
    });
  });

  test.each([
    ...['null', '5', '"Rex"', '[{"name":"Rex","categoryId":1}]'],
    ...['{"name":"\\ud800","categoryId":1}', '{"name":"a\\udc00b","categoryId":1}'],
  ])('refuses a body that is not an object or has half a surrogate pair: %s', async (text) => {
    const { status, body } = await post(text);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'validation_failed' });
  });

  test.each([
    ['{"__proto__":{"name":"Rex","categoryId":1}}', 400],
    ['{"constructor":{"prototype":{"name":"Rex","categoryId":1}}}', 400],
    ['{"__proto__":{"status":"sold"},"name":"Rex","categoryId":1}', 201],
    ['{"hasOwnProperty":1,"toString":2,"name":"Rex","categoryId":1}', 201],
  ])('ignores fields from a prototype: %s', async (text, wanted) => {
    const { status, body } = await post(text);
    expect(status).toBe(wanted);
    if (wanted === 201) expect(body).toMatchObject({ name: 'Rex', status: 'available' });
    expect(({} as Record<string, unknown>)['status']).toBeUndefined();
  });

  test('uses the last of two fields with the same name, as JSON.parse does', async () => {
    const { body } = await post('{"name":"First","name":"Last","categoryId":1}');
    expect(body).toMatchObject({ name: 'Last' });
  });

  test('stores nothing when it refuses', async () => {
    const count = async () => (await api.send('/v1/pets?status=sold&limit=100')).body as unknown[];
    const before = (await count()).length;
    await post({ name: '', categoryId: 1, status: 'sold' });
    await post({ name: 'Rex', categoryId: 0, status: 'sold' });
    await post('{"name":"Rex","categoryId":1,"status":"sold"');
    expect(await count()).toHaveLength(before);
  });
});
