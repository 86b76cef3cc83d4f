import { DomainError } from '../../kernel/domain-error.ts';
import { Unavailable } from '../../kernel/unavailable.ts';

/** Messages from a thread to the pool. A thread works on one task at a time, so messages need no task id. */
export type ThreadMessage<Result, News> =
  | { readonly kind: 'begun' }
  | { readonly kind: 'news'; readonly news: News }
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Between threads, errors lose their classes and their own fields. */
interface Failure {
  readonly error: Error;
  readonly code?: string;
  readonly what?: string;
}

export const packed = (error: unknown): Failure => {
  if (error instanceof DomainError) return { error, code: (error as DomainError).code };
  if (error instanceof Unavailable) return { error, what: error.what };
  return { error: error instanceof Error ? error : new Error(String(error)) };
};

export const unpacked = ({ error, code, what }: Failure): Error => {
  if (code !== undefined) return new DomainError(code, error.message);
  if (what === undefined) return error;
  return new Unavailable(what, error.cause, error.message.slice(what.length + 1));
};
