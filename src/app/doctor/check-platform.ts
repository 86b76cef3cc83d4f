import { readPlatformFiles, readPlatformPem } from '../../adapters/edge/platform-files.ts';
import { pino } from 'pino';
import { migrationStates } from '../../adapters/kysely/migrations.ts';
import { type Ending, endingOf } from '../../domains/domain/own/own-name.ts';
import type { PlatformStatus } from '../../domains/use-cases/check-platform.ts';
import { openContainer } from '../container.ts';
import { DomainsKey } from '../keys.ts';
import { hasSecretKey } from '../settings/secret-key.ts';
import type { Config } from '../settings/settings.ts';
import { isMissing, usingDatabase } from './check-database.ts';
import { failed, type Finding, type Look, ok, warning } from './finding.ts';

export type PlatformSource = 'files' | 'delegation' | 'hosts';

interface CheckedPlatform {
  readonly source: PlatformSource;
  readonly findings: readonly Finding[];
  readonly validUntil: Date | undefined;
}

type Files = Pick<Config, 'platformHost' | 'platformCertificateFile' | 'platformKeyFile'>;

export const given = async (config: Files, now = new Date()): Promise<CheckedPlatform> => {
  const { platformHost, platformCertificateFile = '', platformKeyFile = '' } = config;
  const paths = { certificateFile: platformCertificateFile, keyFile: platformKeyFile };
  try {
    const certificate = readPlatformPem(await readPlatformFiles(paths), platformHost, now);
    const { notAfter } = certificate;
    const seen = `${platformCertificateFile} is valid until ${notAfter.toISOString()}`;
    const finding = found(seen, endingOf(certificate, now));
    return { source: 'files', findings: [finding], validUntil: notAfter };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const advice = 'Replace the files; running edges keep what they have read before.';
    return { source: 'files', findings: [failed(problem, advice)], validUntil: undefined };
  }
};

const renewFiles = 'Replace both files by a renewed certificate; edges read them within a minute.';

const found = (seen: string, ending: Ending): Finding => {
  switch (ending) {
    case 'far':
      return ok(`${seen}.`);
    case 'near':
      return warning(`${seen}: ${left[ending]}.`, renewFiles);
    case 'urgent':
      return failed(`${seen}: ${left[ending]}.`, renewFiles);
  }
};

const left = {
  near: 'less than a fifth of its lifetime is left',
  urgent: 'at most a twentieth of its lifetime is left',
};

export const ordered = (status: PlatformStatus): CheckedPlatform => ({
  source: status.delegation === 'right' || status.isEnough ? 'delegation' : 'hosts',
  findings: [delegationOf(status), ...caaOf(status), certificateOf(status)],
  validUntil: status.certificate?.notAfter,
});

const zoneAdvice =
  'Set ACME_DNS_ZONE as docs/certificates-and-dns.md, "Setting up the zone" says, or set PLATFORM_CERTIFICATE_FILE and ' +
  'PLATFORM_KEY_FILE to a certificate of your own.';

const delegationOf = ({ record, delegation }: PlatformStatus): Finding => {
  if (!record) return failed('There is no zone that answers DNS challenges.', zoneAdvice);
  const { name, value } = record;
  switch (delegation) {
    case 'right':
      return ok(`${name} leads to ${value}.`);
    case 'wrong':
      return failed(
        `${name} does not lead to ${value}.`,
        `Create this record: ${name}. 3600 IN CNAME ${value}.`,
      );
    case 'unknown':
    case undefined:
      return failed(
        `Most resolvers do not say where ${name} leads.`,
        'Run "animal-store doctor": it tries them.',
      );
  }
};

const caaOf = ({ forbiddenBy }: PlatformStatus): readonly Finding[] =>
  forbiddenBy === undefined
    ? []
    : [
        failed(
          `CAA forbids the certificate: ${forbiddenBy}.`,
          'Change that record, or add one that names the authority.',
        ),
      ];

const certificateOf = (status: PlatformStatus): Finding => {
  const { certificate, isEnough, failure } = status;
  const failing = failure && `The last attempt failed: ${failure.detail}`;
  const next = failure
    ? `A worker tries again from ${failure.nextAt.toISOString()} on.`
    : 'A worker orders it within a minute once everything above is ok.';
  if (!certificate) return failed(failing ?? 'There is no certificate yet.', next);
  const { notAfter, issuedBy, ending } = certificate;
  const seen = `The certificate is valid until ${notAfter.toISOString()}, from ${issuedBy}.`;
  if (!isEnough) return failed(`${seen} ${failing ?? 'It was not renewed.'}`, next);
  if (failing !== undefined) return warning(`${seen} ${failing}`, next);
  return ending === 'far' ? ok(seen) : warning(`${seen} It was not renewed.`, next);
};

/** A missing certificate is only a warning, because each project's host then gets its own. */
export const checkPlatform =
  (config: Config): Look =>
  async () => {
    if (!config.roles.some((role) => role === 'worker' || role === 'edge')) return [];
    if (config.platformCertificateFile !== undefined) return (await given(config)).findings;
    if (!config.acme || !(await isReadable(config))) return [];
    return (await orderedBy(config)).map(asWarning);
  };

/** Returns whether the container can be opened without changing anything. If not, the database check reports the problem. */
const isReadable = async (config: Config): Promise<boolean> => {
  if (!hasSecretKey(config) || isMissing(config.databaseUrl)) return false;
  const states = await usingDatabase(config.databaseUrl, migrationStates).catch(() => undefined);
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
