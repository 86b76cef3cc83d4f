import bruno from '@usebruno/lang';
import { Cursors } from '../../src/adapters/http/operations/cursors.ts';
import {
  openApiDocument,
  type OpenApiDocument,
} from '../../src/adapters/http/reference/openapi.ts';
import { catalogueOperations } from '../../src/adapters/http/operations/catalogue-operations.ts';
import type { Catalogue } from '../../src/catalogue/catalogue.ts';
import { loadConfig } from '../../src/app/settings/config.ts';

type Operation = OpenApiDocument['paths'][string][string];

/** The files of a collection for Bruno (usebruno.com), one for each operation, written as Bruno itself writes them. */
export const brunoCollection = (): Readonly<Record<string, string>> => {
  const document = ownDocument();
  const requests = Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, one]) => ({ path, verb, one })),
  );
  return {
    'bruno/bruno.json': `${JSON.stringify(
      { version: '1', name: document.info.title, type: 'collection' },
      undefined,
      2,
    )}\n`,
    'bruno/collection.bru': bruno.jsonToCollectionBru({
      auth: { mode: 'bearer', bearer: { token: '{{key}}' } },
    }),
    'bruno/environments/Local.bru': bruno.envJsonToBruV2({
      variables: [
        { name: 'base', value: document.servers[0]?.url ?? '', enabled: true, secret: false },
        { name: 'key', value: '', enabled: true, secret: true },
      ],
    }),
    ...Object.fromEntries(
      requests.map(({ path, verb, one }, at) => [
        `bruno/${one.operationId}.bru`,
        bruno.jsonToBruV2({
          meta: { name: one.summary, type: 'http', seq: String(at + 1) },
          http: {
            method: verb,
            url: `{{base}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
            body: one.requestBody ? 'json' : 'none',
            auth: 'inherit',
          },
          ...partsOf(document, one),
          docs: one.description,
        }),
      ]),
    ),
  };
};

/** Optional parameters are included, but switched off. */
const partsOf = ({ components }: OpenApiDocument, { parameters, requestBody }: Operation) => {
  const named = parameters.flatMap(
    ({ $ref }) => components.parameters[$ref.split('/').at(-1) ?? ''] ?? [],
  );
  const rows = named.map(({ name, in: place, required }) => ({
    name,
    value: place === 'path' ? '1' : '',
    enabled: required,
    type: place,
  }));
  const example = requestBody?.content['application/json'].example;
  return {
    params: rows.filter(({ type }) => type !== 'header'),
    headers: rows.filter(({ type }) => type === 'header'),
    ...(example !== undefined && { body: { json: JSON.stringify(example, undefined, 2) } }),
  };
};

/** The document of a service without settings, only for its description. */
const ownDocument = (): OpenApiDocument => {
  const { publicUrl, stagingUrl } = loadConfig({});
  const routes = {
    catalogue: {} as Catalogue,
    cursors: new Cursors([new Uint8Array(32)]),
    baseUrl: publicUrl,
  };
  const operations = catalogueOperations(routes);
  return openApiDocument(operations, { publicUrl, stagingUrl });
};
