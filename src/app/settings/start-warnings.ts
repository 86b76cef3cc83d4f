import { existsSync, statSync } from 'node:fs';
import { listenersOf } from './addresses.ts';
import { when } from './faults.ts';
import { settings, type Config } from './settings.ts';
import { nearNames, safetyWarnings } from './warnings.ts';

const firstFreePort = 1024;

export const startWarnings = (
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] => [
  ...nearNames(environment, Object.keys(settings)),
  ...safetyWarnings(config),
  ...when(
    process.getuid?.() === 0 && !needsRoot(config),
    `The process runs as root although no port needs it. Run it as a separate user who owns ${config.dataDir}.`,
  ),
  ...secretPlaces(config).flatMap((path) => {
    const mode = existsSync(path) ? statSync(path).mode & 0o777 : 0;
    const text = `${path} is open to other users (mode ${mode.toString(8)}). Run: chmod go-rwx ${path}`;
    return when((mode & 0o077) !== 0, text);
  }),
];

const needsRoot = (config: Config): boolean =>
  listenersOf(config).some(({ port }) => port > 0 && port < firstFreePort);

const secretPlaces = ({ dataDir, databaseUrl }: Config): readonly string[] => {
  const file = /^sqlite:(?!:memory:)(.+)$/.exec(databaseUrl)?.[1];
  const companions = file === undefined ? [] : ['', '-wal', '-shm'].map((end) => file + end);
  return [dataDir, `${dataDir}/secret.key`, ...companions];
};
