import type { RequestHandler } from '../adapters/http/request-handler.ts';
import type { Deadline } from '../kernel/deadline.ts';

/** Starts each request's deadline when its turn comes, after its headers were read. */
export const timed =
  (deadline: Deadline, handle: RequestHandler): RequestHandler =>
  (request, response) =>
    deadline.during(() => handle(request, response));

/** Wraps a port whose calls have their own limits, so that their time does not count against the request's deadline. */
export const apart = <Port extends object>(deadline: Deadline, port: Port): Port =>
  new Proxy(port, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]) =>
        deadline.apart(() => Reflect.apply(member, target, parameters) as Promise<unknown>);
    },
  });
