import { logOf } from './service-log.ts';
import type { Service } from './service-process.ts';
import { until } from '../until.ts';

interface Line {
  readonly pid: number;
  readonly msg?: string;
  readonly roles?: readonly string[];
  readonly path?: string;
}

const linesOf = (service: Service) => logOf(service) as readonly unknown[] as readonly Line[];

export interface ServingProcess {
  readonly pid: number;
  readonly roles: readonly string[];
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The processes of a service that have begun to serve and have not ended. */
export const processesOf = (service: Service): readonly ServingProcess[] =>
  linesOf(service)
    .filter(({ msg, pid }) => msg === 'serving' && isAlive(pid))
    .map(({ pid, roles = [] }) => ({ pid, roles }));

/** Waits until so many serve, none of them among `others`. */
export const servingProcesses = (
  service: Service,
  count: number,
  others: readonly ServingProcess[] = [],
): Promise<readonly ServingProcess[]> =>
  until(`${count} processes serve`, () => {
    const all = processesOf(service);
    const isOther = ({ pid }: ServingProcess) => others.some((one) => one.pid === pid);
    return all.length === count && !all.some(isOther) && all;
  });

/** Waits until none of them lives. */
export const endOf = (processes: readonly ServingProcess[]): Promise<unknown> =>
  until('the processes end', () => !processes.some(({ pid }) => isAlive(pid)));

/** Which of them answered requests to a path. */
export const answeredBy = (service: Service, path: string): ReadonlySet<number> =>
  new Set(
    linesOf(service)
      .filter((line) => line.path === path)
      .map(({ pid }) => pid),
  );

export const saysSo = (service: Service, msg: string): number =>
  linesOf(service).filter((line) => line.msg === msg).length;
