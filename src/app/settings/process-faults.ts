import { when } from './config-safety.ts';

interface Multiplied {
  readonly processes: number;
  readonly roles: readonly string[];
  readonly redisUrl: string | undefined;
}

export const isWorkerAlone = (roles: readonly string[]): boolean =>
  roles.every((role) => role === 'worker');

/** What does not work with more than one process, one fault each. */
export const processFaults = (config: Multiplied): readonly string[] => {
  const { processes, roles, redisUrl } = config;
  if (processes === 1) return [];
  const counts = roles.includes('api') || roles.includes('dashboard');
  return [
    ...when(
      counts && redisUrl === undefined,
      `PROCESSES: ${String(processes)} processes with the role api or dashboard need REDIS_URL: without it each counts ` +
        'requests by itself, and an account gets several times its plan. Set REDIS_URL, or PROCESSES=1',
    ),
    ...when(
      isWorkerAlone(roles),
      'PROCESSES: must be 1 with ROLES=worker: of several processes only one has that role',
    ),
  ];
};
