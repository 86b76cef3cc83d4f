import { DomainError } from '../../kernel/domain-error.ts';
import { Unavailable } from '../../kernel/unavailable.ts';

/** Messages from a thread to the pool. A thread works on one task at a time, so messages need no task id. */
export type ThreadMessage<Result, News> =
  | { readonly kind: 'begun' }
  | { readonly kind: 'news'; readonly news: News }
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Messages between threads lose their classes. */
type Failure =
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | { readonly kind: 'unavailable'; readonly message: string; readonly cause: unknown }
  | { readonly kind: 'other'; readonly error: Error };

export const packed = (error: unknown): Failure => {
  if (error instanceof DomainError) {
    const { code, message } = error as DomainError;
    return { kind: 'refused', code, message };
  }
  if (error instanceof Unavailable) {
    const { message, cause } = error;
    return { kind: 'unavailable', message, cause: plain(cause) };
  }
  return { kind: 'other', error: plain(error) };
};

export const unpacked = (failure: Failure): Error => {
  switch (failure.kind) {
    case 'refused':
      return new DomainError(failure.code, failure.message);
    case 'unavailable': {
      const [what = '', ...problem] = failure.message.split(' ');
      return new Unavailable(what, failure.cause, problem.join(' '));
    }
    case 'other':
      return failure.error;
  }
};

/** Without fields of an error that cannot be copied. */
const plain = (error: unknown): Error => {
  if (!(error instanceof Error)) return new Error(String(error));
  const { message, stack } = error;
  return Object.assign(new Error(message), stack === undefined ? {} : { stack });
};
