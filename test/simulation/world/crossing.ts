import type { Actor, Time } from './time.ts';

/**
 * Calls a port of the world outside for a process. No process's clock applies there, and no process dies
 * there. An answer to a process that has died meanwhile is lost.
 */
export const across = <Port extends object>(time: Time, port: Port): Port =>
  new Proxy(port, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) =>
        handed(time, undefined, () => Reflect.apply(member, target, given) as unknown);
    },
  });

/** Runs `work` as another actor and returns its outcome to the caller, unless one of them has died meanwhile. */
export const handed = <T>(
  time: Time,
  actor: Actor | undefined,
  work: () => T | Promise<T>,
): Promise<T> => {
  const caller = time.actor;
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const back = (settle: () => void): void => {
    if (caller?.isAlive !== false && actor?.isAlive !== false) time.whenAwake(caller, settle);
  };
  time.whenAwake(actor, () => {
    const begun = (async () => work())();
    begun.then(
      (value) => {
        back(() => {
          resolve(value);
        });
      },
      (error: unknown) => {
        back(() => {
          reject(error);
        });
      },
    );
  });
  return promise;
};
