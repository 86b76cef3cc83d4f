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
  /** From this moment the operation answers 410. */
  readonly sunset: Date;
  /** Path of the operation to use instead, below the base address. */
  readonly successor: string;
}

/** The part of an operation that runs. */
export interface RoutedOperation<Query = unknown, Body = unknown> {
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** Path below the base. Parameters are written as in OpenAPI: `/pets/{petId}`. */
  readonly path: string;
  readonly scope: Scope;
  readonly query?: GenericSchema<unknown, Query>;
  readonly body?: GenericSchema<unknown, Body>;
  /** Whether the operation supports `Idempotency-Key`. */
  readonly idempotent?: boolean;
  readonly deprecation?: Deprecation;
  readonly handle: (call: Call<Query, Body>) => Promise<Answer>;
}

/** One operation of the API. The reference is generated from the object that runs. */
export interface Operation<Query = unknown, Body = unknown> extends RoutedOperation<Query, Body> {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  /** Descriptions for the reference. Handlers check the values, because an invalid id simply does not exist. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly schema: SchemaName;
    /** Headers in addition to those of every answer. */
    readonly headers?: readonly HeaderName[];
  };
  /** Errors in addition to those of every operation. */
  readonly errors: readonly ErrorCode[];
  readonly extensions?: Readonly<Record<`x-${string}`, unknown>>;
}

/** Checks one operation's types and then erases them, so that all operations fit into one list. */
export const operation = <Query, Body>(definition: Operation<Query, Body>): Operation =>
  definition as unknown as Operation;
