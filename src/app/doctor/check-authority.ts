import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lookAtAuthority, type AuthorityLook } from '../../adapters/acme/look-at-authority.ts';
import { KyselyAuthorityAccounts } from '../../adapters/kysely/sites/kysely-authority-accounts.ts';
import { AesGcmSealer } from '../../adapters/system/aes-gcm-sealer.ts';
import type { AuthorityAccount } from '../../domains/certificate-ports.ts';
import type { AcmeConfig, Config } from '../settings/config.ts';
import { previousSecretKeysFor, secretKeyFor } from '../settings/secret-key.ts';
import { isMissing, usingDatabase } from './check-database.ts';
import { failed, ok, warning, type Finding } from './finding.ts';

/** @returns also what its clock says */
export const checkAuthority = async (
  config: Config,
  signal: AbortSignal,
): Promise<{ readonly findings: readonly Finding[]; readonly clock?: AuthorityLook['clock'] }> => {
  const { acme } = config;
  if (!acme) return { findings: [ok('Not used: certificates come from the local authority.')] };
  const account = await storedAccount(config, acme).catch(() => undefined);
  try {
    const look = await lookAtAuthority(acme, account, signal);
    return { findings: judge(acme, look), clock: look.clock };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const advice = 'Allow HTTPS to it without a proxy, or correct ACME_DIRECTORY_URL.';
    return { findings: [failed(`${acme.directoryUrl}: ${problem}`, advice)] };
  }
};

const judge = (acme: AcmeConfig, { directory, account }: AuthorityLook): readonly Finding[] => {
  const { externalAccountRequired = false, caaIdentities = [] } = directory.meta ?? {};
  const isNamed = acme.issuers.some((one) => caaIdentities.includes(one));
  return [
    accountFinding(acme, account, externalAccountRequired),
    ...(caaIdentities.length === 0 || isNamed
      ? []
      : [
          failed(
            `The authority calls itself ${caaIdentities.join(', ')} in CAA records, and CAA_ISSUER is ${acme.issuers.join(', ')}.`,
            `Set CAA_ISSUER=${caaIdentities.join(',')}.`,
          ),
        ]),
  ];
};

const accountFinding = (
  { directoryUrl, eab }: AcmeConfig,
  account: AuthorityLook['account'],
  needsBinding: boolean,
): Finding => {
  if (account === 'known') return ok(`${directoryUrl} answers and knows our account.`);
  if (needsBinding && !eab) {
    const advice = 'Set ACME_EAB_KID and ACME_EAB_HMAC to what the authority gave you.';
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
