import type { Handler } from '../adapters/http/http-server.ts';
import type { Deadline } from '../kernel/deadline.ts';

/** Each request gets its deadline when its turn comes: its headers are read then. */
export const timed =
  (deadline: Deadline, handle: Handler): Handler =>
  (request, response) =>
    deadline.during(async () => {
      await handle(request, response);
    });

/** The same port. What its calls take does not count against a request, since they have limits of their own. */
export const apart = <Port extends object>(deadline: Deadline, port: Port): Port =>
  new Proxy(port, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]) =>
        deadline.apart(() => Reflect.apply(member, target, parameters) as Promise<unknown>);
    },
  });
