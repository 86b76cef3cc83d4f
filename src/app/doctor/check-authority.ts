import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lookAtAuthority, type AuthorityLook } from '../../adapters/acme/acme-account.ts';
import { KyselyAuthorityAccounts } from '../../adapters/kysely/sites/kysely-authority-accounts.ts';
import { AesGcmSealer } from '../../adapters/system/aes-gcm-sealer.ts';
import type { AuthorityAccount } from '../../domains/certificate-ports.ts';
import type { AcmeConfig } from '../settings/authorities.ts';
import type { Config } from '../settings/config.ts';
import { previousSecretKeysFor, secretKeyFor } from '../settings/secret-key.ts';
import { isMissing, usingDatabase } from './check-database.ts';
import { failed, ok, warning, type Finding } from './finding.ts';

interface Checked {
  readonly findings: readonly Finding[];
  readonly clock?: AuthorityLook['clock'];
}

/** An authority, and the settings that say what it is. */
interface Place {
  readonly acme: AcmeConfig;
  readonly names: Readonly<Record<'directory' | 'issuer' | 'kid' | 'hmac', string>>;
}

const names = {
  preferred: {
    ...{ directory: 'ACME_DIRECTORY_URL', issuer: 'CAA_ISSUER' },
    ...{ kid: 'ACME_EAB_KID', hmac: 'ACME_EAB_HMAC' },
  },
  fallback: {
    ...{ directory: 'ACME_FALLBACK_DIRECTORY_URL', issuer: 'CAA_FALLBACK_ISSUER' },
    ...{ kid: 'ACME_FALLBACK_EAB_KID', hmac: 'ACME_FALLBACK_EAB_HMAC' },
  },
} as const;

/** Looks at both authorities. @returns also what the clock of the preferred one says, or of the other if it is away */
export const checkAuthority = async (config: Config, signal: AbortSignal): Promise<Checked> => {
  const { acme, acmeFallback } = config;
  if (!acme) return { findings: [ok('Not used: certificates come from the local authority.')] };
  const places: readonly Place[] = [
    { acme, names: names.preferred },
    ...(acmeFallback ? [{ acme: acmeFallback, names: names.fallback }] : []),
  ];
  const all = await Promise.all(places.map((place) => checkOne(config, place, signal)));
  const clock = all.find((one) => one.clock)?.clock;
  return { findings: all.flatMap(({ findings }) => findings), ...(clock && { clock }) };
};

const checkOne = async (config: Config, place: Place, signal: AbortSignal): Promise<Checked> => {
  const { acme } = place;
  const account = await storedAccount(config, acme).catch(() => undefined);
  try {
    const look = await lookAtAuthority(acme, account, signal);
    return { findings: judge(place, look), clock: look.clock };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const advice = `Allow HTTPS to it without a proxy, or correct ${place.names.directory}.`;
    return { findings: [failed(`${acme.directoryUrl}: ${problem}`, advice)] };
  }
};

const judge = (place: Place, { directory, account }: AuthorityLook): readonly Finding[] => {
  const { acme, names } = place;
  const { externalAccountRequired = false, caaIdentities = [], profiles } = directory.meta ?? {};
  const isNamed = acme.issuers.some((one) => caaIdentities.includes(one));
  return [
    accountFinding(place, account, externalAccountRequired),
    ...(caaIdentities.length === 0 || isNamed
      ? []
      : [
          failed(
            `The authority calls itself ${caaIdentities.join(', ')} in CAA records, and ${names.issuer} is ${acme.issuers.join(', ')}.`,
            `Set ${names.issuer}=${caaIdentities.join(',')}.`,
          ),
        ]),
    ...profileFindings(acme, Object.keys(profiles ?? {})),
  ];
};

const profileFindings = (
  { profile }: AcmeConfig,
  offered: readonly string[],
): readonly Finding[] => {
  if (profile === undefined || offered.includes(profile)) return [];
  return [
    warning(
      `The authority does not offer the profile ${profile}: orders get its default.`,
      offered.length === 0
        ? 'It offers none. Remove ACME_PROFILE.'
        : `Set ACME_PROFILE to one of ${offered.join(', ')}.`,
    ),
  ];
};

const accountFinding = (
  { acme: { directoryUrl, eab }, names }: Place,
  account: AuthorityLook['account'],
  needsBinding: boolean,
): Finding => {
  if (account === 'known') return ok(`${directoryUrl} answers and knows our account.`);
  if (needsBinding && !eab) {
    const advice = `Set ${names.kid} and ${names.hmac} to what the authority gave you.`;
    return failed(`${directoryUrl} requires external account binding.`, advice);
  }
  return account === 'none'
    ? ok(`${directoryUrl} answers. The first certificate order creates our account there.`)
    : warning(
        `${directoryUrl} no longer knows our account.`,
        'Nothing to do: the next certificate order registers it again.',
      );
};

/** As far as it can be read without making a secret key or a database. */
const storedAccount = async (
  config: Config,
  { directoryUrl }: AcmeConfig,
): Promise<AuthorityAccount | undefined> => {
  const { secretKey, dataDir, databaseUrl } = config;
  const hasKey = secretKey !== undefined || existsSync(join(dataDir, 'secret.key'));
  if (!hasKey || isMissing(databaseUrl)) return undefined;
  const sealer = new AesGcmSealer(secretKeyFor(config), previousSecretKeysFor(config));
  return usingDatabase(databaseUrl, (database) =>
    new KyselyAuthorityAccounts(database, sealer).find(directoryUrl),
  );
};
