import { endingOf, type Ending } from '../../domains/domain/own/own-name.ts';
import type { PlatformStanding } from '../../domains/use-cases/check-platform.ts';
import type { Config } from '../settings/config.ts';
import { failed, ok, warning, type Finding } from './finding.ts';

/** Where the certificates of the platform's names come from. */
export type PlatformSource = 'files' | 'delegation' | 'hosts';

interface CheckedPlatform {
  readonly source: PlatformSource;
  readonly findings: readonly Finding[];
  readonly validUntil: Date | undefined;
}

type Files = Pick<Config, 'platformHost' | 'platformCertificateFile' | 'platformKeyFile'>;

/** The operator's own certificate. */
export const given = async (config: Files, now = new Date()): Promise<CheckedPlatform> => {
  const { platformHost, platformCertificateFile = '', platformKeyFile = '' } = config;
  const { readPlatformFiles, readPlatformPem } =
    await import('../../adapters/edge/platform-files.ts');
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
  urgent: 'a twentieth of its lifetime is left at most',
};

/** The certificate that workers order. */
export const ordered = (standing: PlatformStanding): CheckedPlatform => ({
  source: standing.delegation === 'right' || standing.isEnough ? 'delegation' : 'hosts',
  findings: [delegationOf(standing), ...caaOf(standing), certificateOf(standing)],
  validUntil: standing.certificate?.notAfter,
});

const zoneAdvice =
  'Set ACME_DNS_ZONE as docs/operations.md, "Setting up the zone" says, or set PLATFORM_CERTIFICATE_FILE and ' +
  'PLATFORM_KEY_FILE to a certificate of your own.';

const delegationOf = ({ record, delegation }: PlatformStanding): Finding => {
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

const caaOf = ({ forbiddenBy }: PlatformStanding): readonly Finding[] =>
  forbiddenBy === undefined
    ? []
    : [
        failed(
          `CAA forbids the certificate: ${forbiddenBy}.`,
          'Change that record, or add one that names the authority.',
        ),
      ];

const certificateOf = (standing: PlatformStanding): Finding => {
  const { certificate, isEnough, failure } = standing;
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
