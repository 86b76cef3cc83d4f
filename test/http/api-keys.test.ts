import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { composeSecret } from '../../src/access/domain/api-key.ts';
import { AccessKey } from '../../src/app/keys.ts';
import { usualKinds } from '../support/servers/databases.ts';
import { startApi, type Answer, type RunningApi } from '../support/http/running-api.ts';

const paths = ['/v1/pets', '/v1/pets/1', '/v1/store/orders'];

describe.each(usualKinds)('an API key on %s', (kind) => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi(kind);
  });
  afterAll(() => api.close());

  const refused = (code: string, { status, headers, body, text }: Answer): string => {
    expect(status).toBe(401);
    expect(headers.get('WWW-Authenticate')).toBe('Bearer');
    expect(body).toMatchObject({ code });
    return text;
  };

  const withHeader = (value: string): Promise<Answer> =>
    api.send('/v1/pets', { key: null, headers: { Authorization: value } });

  test.each(paths)('is required for %s', async (path) => {
    refused('missing_api_key', await api.send(path, { key: null }));
  });

  test('is required before a body is read', async () => {
    refused(
      'missing_api_key',
      await api.send('/v1/pets', { key: null, method: 'POST', body: '{' }),
    );
  });

  test.each(['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer ', 'Digest x', 'Bearerx', 'Bearer a b'])(
    'is missing in "Authorization: %s"',
    async (value) => {
      refused('missing_api_key', await withHeader(value));
    },
  );

  test('without the word Bearer, or in the query, counts as missing', async () => {
    refused('missing_api_key', await withHeader(api.account.key));
    const path = `/v1/pets?api_key=${api.account.key}&access_token=${api.account.key}`;
    refused('missing_api_key', await api.send(path, { key: null }));
  });

  test.each(['Bearer', 'bearer', 'BEARER', 'Bearer  '])(
    'is accepted after "%s"',
    async (scheme) => {
      expect((await withHeader(`${scheme} ${api.account.key}`)).status).toBe(200);
    },
  );

  test('that is malformed, mistyped, unknown, revoked or expired gets the same answer', async () => {
    const access = api.container.get(AccessKey);
    const { key } = api.account;
    const revoked = await api.newKey({});
    await access.revokeApiKey(revoked.id);
    const expired = await api.newKey({ expiresAt: new Date(api.clock.now().getTime() + 1000) });
    api.clock.advance(1000);
    const secrets = {
      malformed: 'x',
      long: 'x'.repeat(5000),
      mistyped: key.slice(0, -1) + (key.endsWith('0') ? '1' : '0'),
      swapped: key.replace(/(.)(.)(.{10})$/, '$2$1$3x'),
      unknown: composeSecret('A'.repeat(32)),
      lower: key.toLowerCase(),
      revoked: revoked.secret,
      expired: expired.secret,
    };
    const answers: string[] = [];
    for (const secret of Object.values(secrets)) {
      answers.push(refused('invalid_api_key', await api.send('/v1/pets', { key: secret })));
    }
    api.clock.advance(-1000);
    expect(new Set(answers).size).toBe(1);
  });

  test('works until the moment it expires', async () => {
    const expiresAt = new Date(api.clock.now().getTime() + 60_000);
    const { secret } = await api.newKey({ expiresAt });
    api.clock.advance(59_999);
    expect((await api.send('/v1/pets', { key: secret })).status).toBe(200);
    api.clock.advance(1);
    refused('invalid_api_key', await api.send('/v1/pets', { key: secret }));
    api.clock.advance(-60_000);
  });

  test.each([
    ['pets:read', [200, 403, 404, 403]],
    ['pets:write', [403, 201, 403, 403]],
    ['orders:read', [403, 403, 403, 200]],
  ] as const)(
    'with the scope %s opens only the operations of that scope',
    async (scope, wanted) => {
      const { secret: key } = await api.newKey({ scopes: [scope] });
      const body = '{"name":"Rex","categoryId":1}';
      const answers = [
        await api.send('/v1/pets', { key }),
        await api.send('/v1/pets', { key, method: 'POST', body }),
        await api.send('/v1/pets/999999', { key }),
        await api.send('/v1/store/orders', { key }),
      ];
      expect(answers.map(({ status }) => status)).toEqual(wanted);
      for (const { status, body: error } of answers) {
        if (status === 403) expect(error).toMatchObject({ code: 'insufficient_scope' });
      }
    },
  );
});
