import type { Context } from 'koa';
import type { Scope } from '../../../access/domain/api-key.ts';
import type { Caller } from '../../../access/use-cases/callers.ts';
import type { GenericSchema } from 'valibot';
import type { ErrorCode } from '../error-table.ts';
import type { Answer } from '../answer.ts';
import type { HeaderName, SchemaName } from './openapi-components.ts';

export interface Call<Query, Body> {
  readonly caller: Caller;
  readonly parameters: Readonly<Record<string, string>>;
  readonly request: Context['req'];
  readonly query: Query;
  readonly body: Body;
}

interface Deprecation {
  readonly since: Date;
  /** From this moment on the operation answers 410. */
  readonly sunset: Date;
  /** Path of the operation to use instead, below the base address. */
  readonly successor: string;
}

/** What runs of an operation. */
export interface RoutedOperation<Query = unknown, Body = unknown> {
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** Below its base, parameters as in OpenAPI: `/pets/{petId}`. */
  readonly path: string;
  readonly scope: Scope;
  readonly query?: GenericSchema<unknown, Query>;
  readonly body?: GenericSchema<unknown, Body>;
  /** Obeys `Idempotency-Key`. */
  readonly idempotent?: boolean;
  readonly deprecation?: Deprecation;
  readonly handle: (call: Call<Query, Body>) => Promise<Answer>;
}

/** One operation of the API; the reference is generated from the same object that runs. */
export interface Operation<Query = unknown, Body = unknown> extends RoutedOperation<Query, Body> {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  /** Only for the reference; handlers check them, because an invalid id is simply not found. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly schema: SchemaName;
    /** Its own headers, besides those of every answer. */
    readonly headers?: readonly HeaderName[];
  };
  /** Its own errors; those that every operation can answer are added. */
  readonly errors: readonly ErrorCode[];
  readonly extensions?: Readonly<Record<`x-${string}`, unknown>>;
}

/** Checks one operation's types and forgets them, so that operations of all kinds fit into one list. */
export const operation = <Query, Body>(definition: Operation<Query, Body>): Operation =>
  definition as unknown as Operation;
