import { expect } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, unknown>>;
}

export interface DocumentedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
  readonly [extension: `x-${string}`]: unknown;
}

interface DocumentedSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Of an OpenAPI document, what the tests look at. */
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
  /** Undefined when the answer has no body. */
  readonly json: unknown;
}

/** Headers of the transport, of caches, browsers and CORS, which a reference leaves out. */
const undocumented =
  /^(content-|access-control-|connection|date|keep-alive|transfer-|vary|allow|cache-control|strict-transport-|x-content-type-options)/;

const pointer = (...parts: readonly string[]): string =>
  parts.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');

/** Compares answers with what the document promises for their operation and status. */
export const documentedAnswers = (document: ApiDocument) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
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
    const promised = Object.keys(operation.responses[status]?.headers ?? {});
    const sent = [...headers.keys()].filter((name) => !undocumented.test(name));
    const optional = operation.deprecated
      ? ['Idempotent-Replayed']
      : ['Link', 'Idempotent-Replayed'];
    expect(promised.map((name) => name.toLowerCase())).toEqual(expect.arrayContaining(sent));
    expect(sent).toEqual(
      expect.arrayContaining(
        promised.filter((name) => !optional.includes(name)).map((name) => name.toLowerCase()),
      ),
    );
  };

  return {
    document,
    /** @returns whether the document has an operation for the request; its answer is then as documented */
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
      const of = pointer('paths', template, verb, 'responses', status);
      const matches = ajv.getSchema(`openapi#/${of}/content/application~1json/schema`);
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
