import { STATUS_CODES } from 'node:http';
import { errorTable, type ErrorCode } from '../error-table.ts';
import { headersOfError, schemaRef } from '../operations/openapi-components.ts';
import type { Operation } from '../operations/operation.ts';

interface Ref {
  readonly $ref: string;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers: Readonly<Record<string, Ref>>;
  readonly content: {
    readonly 'application/json': {
      readonly schema: object;
      readonly example?: unknown;
      readonly examples?: Readonly<Record<string, Ref>>;
    };
  };
}

export type Responses = Readonly<Record<string, ResponseObject | Ref>>;

const everywhere: readonly ErrorCode[] = [
  'malformed_request',
  'missing_api_key',
  'invalid_api_key',
  'insufficient_scope',
  'not_acceptable',
  'request_timeout',
  'expectation_failed',
  'rate_limit_exceeded',
  'daily_quota_exceeded',
  'key_banned',
  'headers_too_large',
  'internal_error',
  'service_unavailable',
];

const withBody: readonly ErrorCode[] = [
  'malformed_json',
  'validation_failed',
  'payload_too_large',
  'unsupported_media_type',
];

const withIdempotency: readonly ErrorCode[] = [
  'invalid_parameter',
  'idempotency_in_progress',
  'idempotency_key_reused',
];

/** Groups an operation's errors by status. Shared errors are references. */
export const errorsOf = (operation: Operation): Responses =>
  Object.fromEntries(
    Object.entries(codesByStatus(operation)).map(([status, codes]) => [
      status,
      isOwn(status) ? response(status, codes) : { $ref: `#/components/responses/${named(status)}` },
    ]),
  );

export const responseComponents = (operations: readonly Operation[]) =>
  Object.fromEntries(
    operations
      .flatMap((operation) => Object.entries(codesByStatus(operation)))
      .filter(([status]) => !isOwn(status))
      .map(([status, codes]) => [named(status), response(status, codes)]),
  );

/** The causes of an invalid request differ between operations, so status 400 is not shared. */
const isOwn = (status: string) => status === '400';

const named = (status: string) => (STATUS_CODES[status] ?? status).replaceAll(' ', '');

export const exampleComponents = (operations: readonly Operation[]) => {
  const used = new Set(operations.flatMap((operation) => [...codesOf(operation)]));
  return Object.fromEntries(
    [...used].map((code) => {
      const { status, meaning, example } = errorTable[code];
      return [code, { summary: meaning, value: { code, message: example, status } }];
    }),
  );
};

const codesByStatus = (operation: Operation): Readonly<Record<string, ErrorCode[]>> =>
  Object.groupBy(codesOf(operation), (code) => errorTable[code].status);

const codesOf = (operation: Operation): ReadonlySet<ErrorCode> =>
  new Set([
    ...(operation.body ? withBody : []),
    ...operation.errors,
    ...(operation.idempotent ? withIdempotency : []),
    ...everywhere,
  ]);

const response = (status: string, codes: readonly ErrorCode[]): ResponseObject => ({
  description: codes.map((code) => `\`${code}\`: ${errorTable[code].meaning}`).join('\n\n'),
  headers: headersOfError(Number(status)),
  content: {
    'application/json': {
      schema: {
        allOf: [
          schemaRef('Error'),
          { properties: { code: { enum: codes }, status: { const: Number(status) } } },
        ],
      },
      examples: Object.fromEntries(
        codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
      ),
    },
  },
});
