import type { Config } from '../settings/settings.ts';
import { startWarnings } from '../settings/start-warnings.ts';
import { checkBackups, checkDatabase, databaseClock, judgeClocks } from './check-database.ts';
import { checkDns, checkZone } from './check-dns.ts';
import { checkPlatform } from './check-platform.ts';
import { checkPorts } from './check-ports.ts';
import { checkAuthority, checkMail, checkRedis } from './check-servers.ts';
import { checkObjectStore, checkStorage } from './check-storage.ts';
import { within, type Finding, type Look } from './finding.ts';

export { given, ordered } from './check-platform.ts';
export { checkMail } from './check-servers.ts';

const deadlineMs = 10_000;

export interface Checked extends Finding {
  readonly check: string;
}

/** Runs all checks in parallel. Changes nothing. */
export const examine = async (config: Config): Promise<readonly Checked[]> => {
  const authority = once((signal: AbortSignal) => checkAuthority(config, signal));
  const looks: Readonly<Record<string, Look>> = {
    database: () => checkDatabase(config),
    backups: () => checkBackups(config),
    redis: () => checkRedis(config),
    dns: checkDns(config),
    zone: checkZone(config),
    platform: checkPlatform(config),
    authority: async (signal) => (await authority(signal)).findings,
    mail: () => checkMail(config),
    ports: checkPorts(config),
    storage: async () =>
      (await Promise.all([checkStorage(config), checkObjectStore(config)])).flat(),
    clock: async (signal) => {
      const name = 'the certificate authority';
      const [database, { clock }] = await Promise.all([
        databaseClock(config.databaseUrl),
        authority(signal),
      ]);
      return judgeClocks([database, clock && { name, ...clock }]);
    },
  };
  const found = await Promise.all(
    Object.entries(looks).map(async ([check, look]) =>
      (await within(deadlineMs, look)).map((finding) => ({ check, ...finding })),
    ),
  );
  return [...settingsOf(config), ...found.flat()];
};

const settingsOf = (config: Config): readonly Checked[] =>
  startWarnings(config, process.env).map((seen) => ({ check: 'settings', state: 'warning', seen }));

const once = <T>(ask: (signal: AbortSignal) => Promise<T>) => {
  let asked: Promise<T> | undefined;
  return (signal: AbortSignal): Promise<T> => (asked ??= ask(signal));
};
