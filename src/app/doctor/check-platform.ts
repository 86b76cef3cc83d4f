import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { migrationStates } from '../../adapters/kysely/migrations.ts';
import { openContainer } from '../container.ts';
import { DomainsKey } from '../keys.ts';
import type { Config } from '../settings/config.ts';
import { isMissing, usingDatabase } from './check-database.ts';
import { warning, type Finding, type Look } from './finding.ts';
import { given, ordered } from './platform-findings.ts';

/**
 * What `platform check` says, on machines that order or serve the platform's certificate. Without one, each project's
 * host gets its own, so that is a warning; files that cannot be used are a failure.
 */
export const checkPlatform =
  (config: Config): Look =>
  async () => {
    if (!config.roles.some((role) => role === 'worker' || role === 'edge')) return [];
    if (config.platformCertificateFile !== undefined) return (await given(config)).findings;
    if (!config.acme || !(await isReadable(config))) return [];
    return (await orderedBy(config)).map(asWarning);
  };

/** Otherwise opening it would change something; the check of the database says what is wrong with it. */
const isReadable = async ({ databaseUrl, secretKey, dataDir }: Config): Promise<boolean> => {
  const hasKey = secretKey !== undefined || existsSync(join(dataDir, 'secret.key'));
  if (!hasKey || isMissing(databaseUrl)) return false;
  const states = await usingDatabase(databaseUrl, migrationStates).catch(() => undefined);
  return states?.every(({ executedAt, isKnown }) => isKnown && executedAt !== undefined) ?? false;
};

const orderedBy = async (config: Config): Promise<readonly Finding[]> => {
  const command = { ...config, roles: [] };
  const container = await openContainer(command, pino({ level: 'silent' }), 'operator');
  try {
    return ordered(await container.get(DomainsKey).checkPlatform()).findings;
  } finally {
    await container.unbindAllAsync();
  }
};

const asWarning = ({ state, seen, advice = '' }: Finding): Finding =>
  state === 'failed' ? warning(seen, advice) : { state, seen, ...(advice && { advice }) };
