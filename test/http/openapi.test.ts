import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { int64Fields } from '../../clients/typescript/src/exact-json.ts';
import { errorTable } from '../../src/adapters/http/error-table.ts';
import { resolve, type DocumentedOperation } from '../support/http/documented-answers.ts';
import { publicUrl, startApi, type RunningApi } from '../support/http/running-api.ts';

describe('/v1/openapi.json', () => {
  let api: RunningApi;
  beforeAll(async () => {
    const settings = { STAGING_URL: 'https://staging.animal-store.test/v1' };
    api = await startApi('sqlite', { settings });
  });
  afterAll(() => api.close());

  const operations = (): readonly (readonly [string, DocumentedOperation])[] =>
    Object.entries(api.document.paths).flatMap(([path, verbs]) =>
      Object.entries(verbs).map(([verb, one]) => [`${verb} ${path}`, one] as const),
    );
  const operation = (name: string): DocumentedOperation => {
    const found = operations().find(([one]) => one === name);
    if (!found) throw new Error(`${name} is not documented`);
    return found[1];
  };

  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate({ ...structuredClone(api.document) });
    expect(result).toMatchObject({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  test('needs no key', async () => {
    const { status, headers } = await api.send('/v1/openapi.json', { key: null });
    expect(status).toBe(200);
    expect(headers.get('Content-Type')).toMatch(/^application\/json/);
  });

  test('shows the configured addresses and the version of the API', async () => {
    expect(api.document.info).toMatchObject({ title: 'Animal Store', version: '1.0.0' });
    expect(api.document.servers).toEqual([
      { url: publicUrl, description: 'Production' },
      { url: 'https://staging.animal-store.test/v1', description: 'Staging' },
    ]);
    const alone = await startApi('sqlite');
    const { servers } = alone.document;
    await alone.close();
    expect(servers.map(({ url }) => url)).toEqual([publicUrl]);
  });

  test('has the operations of the API under their names and tags', () => {
    expect(operations().map(([name, { operationId, tags }]) => [name, operationId, tags])).toEqual([
      ['get /pets', 'listPets', ['animals']],
      ['post /pets', 'createPet', ['animals']],
      ['get /pets/{petId}', 'getPet', ['animals']],
      ['get /store/orders', 'listOrders', ['orders']],
    ]);
  });

  test('declares the groups Store and Pets, which have no operations of their own', () => {
    const declared = api.document.tags.map(({ name }) => name);
    expect(declared).toEqual(expect.arrayContaining(['animals', 'Store', 'Pets']));
    const used = operations().flatMap(([, { tags }]) => tags);
    expect(used.filter((tag) => tag === 'Store' || tag === 'Pets')).toEqual([]);
    expect(declared).toEqual(expect.arrayContaining(used));
  });

  test('marks exactly GET /pets/{petId} as deprecated', () => {
    const deprecated = operations().filter(([, one]) => one.deprecated);
    expect(deprecated.map(([name]) => name)).toEqual(['get /pets/{petId}']);
    expect(operation('get /pets/{petId}')).toHaveProperty('x-deprecated-sunset', '2030-12-05');
  });

  test('marks exactly GET /store/orders as experimental and without a try-it panel', () => {
    expect(operation('get /store/orders')).toMatchObject({
      'x-stability': 'experimental',
      'x-hideTryItPanel': true,
      'x-explorer-enabled': false,
    });
    const marked = operations().filter(
      ([, one]) => 'x-stability' in one || 'x-hideTryItPanel' in one || 'x-explorer-enabled' in one,
    );
    expect(marked.map(([name]) => name)).toEqual(['get /store/orders']);
  });

  test('requires a bearer key everywhere', () => {
    expect(api.document.components.securitySchemes).toMatchObject({
      apiKey: { type: 'http', scheme: 'bearer' },
    });
    expect(api.document.security).toEqual([{ apiKey: [] }]);
    for (const [, one] of operations()) expect(one).toMatchObject({ security: [{ apiKey: [] }] });
  });

  test('describes the parameters of lists correctly', () => {
    const parameters = operation('get /pets').parameters.map((one) => resolve(api.document, one));
    expect(parameters).toMatchObject([
      {
        name: 'limit',
        in: 'query',
        required: false,
        description: expect.stringMatching(/at most/),
        schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      },
      { name: 'cursor', in: 'query', required: false, schema: { type: 'string' } },
      { name: 'status', in: 'query', schema: { $ref: '#/components/schemas/PetStatus' } },
    ]);
  });

  test('describes the resources of the API', () => {
    const { NewPet, Pet, PetStatus, Error: error } = api.document.components.schemas;
    const int64 = { type: 'integer', format: 'int64' };
    expect(PetStatus).toMatchObject({ enum: ['available', 'pending', 'sold'] });
    expect(NewPet).toMatchObject({
      required: ['name', 'categoryId'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 255 },
        categoryId: { ...int64, minimum: 1 },
        status: { allOf: [{ $ref: '#/components/schemas/PetStatus' }, { default: 'available' }] },
      },
    });
    expect(Pet).toMatchObject({
      required: ['id', 'name', 'categoryId', 'status'],
      properties: { id: int64, categoryId: int64 },
    });
    expect(error).toMatchObject({ required: ['code', 'message', 'status'] });
  });

  test('declares int64 for exactly the fields that the TypeScript client keeps exact', () => {
    const fields = Object.values(api.document.components.schemas).flatMap(({ properties }) =>
      Object.entries(properties ?? {}),
    );
    const int64 = fields.filter(([, { format }]) => format === 'int64').map(([name]) => name);
    expect(new Set(int64)).toEqual(int64Fields);
  });

  test('defines each header, parameter and error once', async () => {
    const { text } = await api.send('/v1/openapi.json');
    expect(text.length).toBeLessThan(40_000);
    expect(text).not.toMatch(/"const":[^}]*"type"|"type":[^}]*"const"/);
    const listed = operation('get /pets').responses['429'] ?? { content: {} };
    expect(listed).toHaveProperty('$ref');
    const { headers = {} } = resolve(api.document, listed);
    expect(Object.keys(headers)).toContain('X-RateLimit-Reset');
    for (const header of Object.values(headers)) expect(header).toHaveProperty('$ref');
  });

  test('lists every error code of the service, each under its own status', () => {
    const codes = new Map<string, Set<string>>();
    for (const [, { responses }] of operations()) {
      for (const [status, listed] of Object.entries(responses)) {
        const response = JSON.stringify(resolve(api.document, listed));
        for (const [code] of response.matchAll(/(?<=")[a-z]+(_[a-z]+)+(?=")/g)) {
          if (code in errorTable) codes.set(code, (codes.get(code) ?? new Set()).add(status));
        }
      }
    }
    // Deploys are not part of the document, so nothing may link to them.
    const ofNone = ['route_not_found', 'method_not_allowed'];
    const elsewhere = [...ofNone, 'project_not_found', 'deploy_not_found', 'deploy_refused'];
    const wanted = Object.entries(errorTable).filter(([code]) => !elsewhere.includes(code));
    expect(Object.fromEntries(codes)).toEqual(
      Object.fromEntries(wanted.map(([code, { status }]) => [code, new Set([String(status)])])),
    );
  });
});
