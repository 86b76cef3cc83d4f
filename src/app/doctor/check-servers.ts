import { lookAtAuthority, type AuthorityLook } from '../../adapters/acme/acme-session.ts';
import { KyselyAuthorityAccounts } from '../../adapters/kysely/sites/kysely-certificate-orders.ts';
import {
  shownServer,
  smtpOptions,
  tryServer,
  type ServerTrouble,
} from '../../adapters/mail/smtp-postman.ts';
import { readRedisAddress, type Sentinels } from '../../adapters/redis/redis-address.ts';
import { askSentinel, openConnection } from '../../adapters/redis/redis-connection.ts';
import type { AuthorityAccount } from '../../domains/certificate-ports.ts';
import type { AcmeConfig, Config } from '../settings/settings.ts';
import { sealerIn } from '../settings/secret-key.ts';
import { withoutUser } from '../settings/redaction.ts';
import { isMissing, usingDatabase } from './check-database.ts';
import { failed, ok, warning, type Finding } from './finding.ts';

const timeoutMs = 3_000;

export const checkRedis = async ({ redisUrl }: Config): Promise<readonly Finding[]> => {
  if (redisUrl === undefined) return [ok('Not used: this process counts requests alone.')];
  const sentinels = readRedisAddress(redisUrl)?.sentinels;
  return Promise.all([
    checkServer(redisUrl),
    ...(sentinels?.hosts.map((place) => checkSentinel(place, sentinels)) ?? []),
  ]);
};

const checkServer = async (redisUrl: string): Promise<Finding> => {
  const place = withoutUser(redisUrl);
  let problem = 'no answer';
  const { redis } = openConnection(redisUrl, {
    onProblem: ({ message }) => (problem = message),
    timeoutMs,
    commandsEnd: true,
    maxRetriesPerRequest: 2,
  });
  try {
    await redis.ping();
    return ok(`${place} answers.`);
  } catch {
    return failed(`${place} cannot be reached (${problem}).`, 'Start it, or correct REDIS_URL.');
  } finally {
    redis.disconnect();
  }
};

/** Each sentinel is checked: one is enough for the service, but a failover needs a majority. */
const checkSentinel = async (
  place: Sentinels['hosts'][number],
  sentinels: Sentinels,
): Promise<Finding> => {
  const who = `The sentinel ${place.host}:${String(place.port)}`;
  try {
    const primary = await askSentinel(place, sentinels, timeoutMs);
    return primary === undefined
      ? warning(
          `${who} does not know ${sentinels.name}.`,
          'Correct the name in REDIS_URL or in its sentinel.conf.',
        )
      : ok(`${who} says that ${primary} is the primary.`);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return warning(`${who} does not answer (${problem}).`, 'Start it, or correct REDIS_URL.');
  }
};

export const checkMail = async ({
  smtpUrl,
}: Pick<Config, 'smtpUrl'>): Promise<readonly Finding[]> => {
  if (smtpUrl === undefined) return [ok('Not used: no mail is sent.')];
  const where = shownServer(smtpUrl);
  const problem = await tryServer(smtpOptions(smtpUrl));
  if (!problem) return [ok(`${where} accepts mail from us. None was sent.`)];
  return [failed(`${where}: ${problem.reason}`, adviceOn(problem))];
};

const adviceOn = ({ code, reason }: ServerTrouble): string => {
  const isCertificate = reason.includes('certificate');
  switch (isCertificate ? 'ETLS' : code) {
    case 'EAUTH':
    case 'ENOAUTH':
      return 'Correct the user and the password in SMTP_URL.';
    case 'ETLS':
      return 'The server must offer TLS with a valid certificate for its name. Try smtps:// and its port.';
    case 'EDNS':
      return 'Correct the host in SMTP_URL.';
    default:
      return 'Check that it runs, and the host and the port in SMTP_URL. smtps:// is for servers that speak TLS from the beginning.';
  }
};

interface Checked {
  readonly findings: readonly Finding[];
  readonly clock?: AuthorityLook['clock'];
}

interface Place {
  readonly acme: AcmeConfig;
  readonly names: Readonly<Record<'directory' | 'issuer' | 'kid' | 'hmac', string>>;
}

const names = {
  preferred: {
    directory: 'ACME_DIRECTORY_URL',
    issuer: 'CAA_ISSUER',
    kid: 'ACME_EAB_KID',
    hmac: 'ACME_EAB_HMAC',
  },
  fallback: {
    directory: 'ACME_FALLBACK_DIRECTORY_URL',
    issuer: 'CAA_FALLBACK_ISSUER',
    kid: 'ACME_FALLBACK_EAB_KID',
    hmac: 'ACME_FALLBACK_EAB_HMAC',
  },
} as const;

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
  return [
    accountFinding(place, account, externalAccountRequired),
    ...issuerFindings(acme.issuers, names.issuer, caaIdentities),
    ...profileFindings(acme, Object.keys(profiles ?? {})),
  ];
};

const issuerFindings = (
  given: readonly string[] | undefined,
  setting: string,
  caaIdentities: readonly string[],
): readonly Finding[] => {
  const named = caaIdentities.join(', ');
  if (given === undefined) {
    const seen =
      'The authority does not publish its name for CAA records, so we cannot check the CAA records of domains.';
    return named === '' ? [warning(seen, `Set ${setting} to that name.`)] : [];
  }
  if (named === '' || given.some((one) => caaIdentities.includes(one))) return [];
  return [
    failed(
      `The authority's name in CAA records is ${named}, but ${setting} is ${given.join(', ')}.`,
      `Remove ${setting}.`,
    ),
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

/** Reads only what exists, and creates neither a key nor a database. */
const storedAccount = async (
  config: Config,
  { directoryUrl }: AcmeConfig,
): Promise<AuthorityAccount | undefined> => {
  const [sealer, { databaseUrl }] = [sealerIn(config), config];
  if (!sealer || isMissing(databaseUrl)) return undefined;
  return usingDatabase(databaseUrl, (database) =>
    new KyselyAuthorityAccounts(database, sealer).find(directoryUrl),
  );
};
