import { expect } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

interface DocumentedHeader {
  readonly required?: boolean;
  readonly schema: { readonly type: string };
}

interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, Documented<DocumentedHeader>>>;
  readonly content: Readonly<
    Record<string, { readonly examples?: Readonly<Record<string, Documented<Example>>> }>
  >;
}

interface Example {
  readonly value: { readonly code: string; readonly message: string };
}

type Documented<Part> = Part | { readonly $ref: string };

export interface DocumentedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly responses: Readonly<Record<string, Documented<DocumentedResponse>>>;
  readonly parameters: readonly Documented<{ readonly name: string }>[];
  readonly [extension: `x-${string}`]: unknown;
}

interface DocumentedSchema {
  readonly properties?: Readonly<Record<string, { readonly format?: string }>>;
}

export interface ApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly security: readonly unknown[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, DocumentedSchema>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

export interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
}

/** Headers of the transport, caches, browsers and CORS, which the reference omits. */
const undocumented =
  /^(content-|access-control-|connection|date|keep-alive|transfer-|vary|allow|cache-control|strict-transport-|x-content-type-options)/;

const ofDeprecated = ['deprecation', 'sunset', 'link'];

const oneWording = [
  'missing_api_key',
  'invalid_api_key',
  'invalid_cursor',
  'not_acceptable',
  'payload_too_large',
  'unsupported_media_type',
  'idempotency_key_reused',
  'internal_error',
  'service_unavailable',
];

const pointer = (...parts: readonly string[]): string =>
  parts.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');

/** Resolves a reference to a part that the document defines once. */
export const resolve = <Part extends object>(
  document: ApiDocument,
  part: Documented<Part>,
): Part => {
  if (!('$ref' in part)) return part;
  const steps = part.$ref.split('/').slice(1);
  return steps.reduce<unknown>(
    (found, step) => (found as Record<string, unknown>)[step],
    document,
  ) as Part;
};

/** Compares answers with the document's description of their operation and status. */
export const documentedAnswers = (document: ApiDocument) => {
  // test/http/openapi.test.ts checks that the document is valid.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  formats.default(ajv);
  ajv.addSchema(document, 'openapi');

  const find = (method: string, path: string) => {
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
    const template = Object.keys(document.paths).find((one) =>
      new RegExp(`^${one.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
    );
    const operation = template === undefined ? undefined : document.paths[template]?.[verb];
    return template === undefined || !operation ? undefined : { template, verb, operation };
  };

  const checkHeaders = (operation: DocumentedOperation, { status, headers }: ReceivedAnswer) => {
    const { headers: named = {} } = responseOf(operation, status);
    const promised = Object.entries(named).map(
      ([name, header]) => [name.toLowerCase(), resolve(document, header)] as const,
    );
    const sent = [...headers.keys()].filter((name) => !undocumented.test(name));
    const always = promised.filter(
      ([name, { required }]) =>
        required === true || (operation.deprecated === true && ofDeprecated.includes(name)),
    );
    expect(promised.map(([name]) => name)).toEqual(expect.arrayContaining(sent));
    expect(sent).toEqual(expect.arrayContaining(always.map(([name]) => name)));
    expect(operation.deprecated ?? !sent.includes('deprecation')).toBe(true);
    for (const [name, { schema }] of promised) {
      if (schema.type === 'integer') expect(headers.get(name) ?? '0').toMatch(/^\d+$/);
    }
  };

  const checkExample = (operation: DocumentedOperation, { status, json }: ReceivedAnswer) => {
    const { code, message } = json as Example['value'];
    const { examples = {} } = responseOf(operation, status).content['application/json'] ?? {};
    const { value } = resolve(
      document,
      examples[code] ?? { value: { code: 'no example', message } },
    );
    expect(value).toMatchObject({ code, status });
    if (oneWording.includes(code)) expect(message).toBe(value.message);
  };

  const responseOf = ({ responses }: DocumentedOperation, status: number) =>
    resolve(document, responses[status] ?? { content: {} });

  return {
    document,
    /** @returns whether the document has an operation for the request, in which case the answer matches it */
    check: (method: string, path: string, answer: ReceivedAnswer): boolean => {
      const found = find(method, path);
      if (!found) return false;
      const { template, verb, operation } = found;
      const { operationId, responses } = operation;
      const status = String(answer.status);
      const named = `${operationId} ${status}`;
      expect(Object.keys(responses).map((one) => `${operationId} ${one}`)).toContain(named);
      checkHeaders(operation, answer);
      if (answer.json === undefined) return true;
      if (answer.status >= 400) checkExample(operation, answer);
      const listed = responses[status] ?? { content: {} };
      const of =
        '$ref' in listed
          ? listed.$ref
          : `#/${pointer('paths', template, verb, 'responses', status)}`;
      const matches = ajv.getSchema(`openapi${of}/content/application~1json/schema`);
      expect(matches).toBeDefined();
      const valid = matches?.(answer.json);
      expect({ named, valid, problems: matches?.errors }).toEqual({
        named,
        valid: true,
        problems: null,
      });
      return true;
    },
  };
};

export type DocumentedAnswers = ReturnType<typeof documentedAnswers>;
