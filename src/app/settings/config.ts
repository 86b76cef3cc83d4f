import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { urlHost } from './addresses.ts';
import { faultsOf, faultsOfGiven, isWorkerAlone, portClashes } from './faults.ts';
import {
  camelCase,
  settings,
  type AcmeConfig,
  type Config,
  type Given,
  type Setting,
} from './settings.ts';
import { isIP, list, roles as allRoles } from './setting-schemas.ts';
import { nearNames } from './warnings.ts';

export type { Config } from './settings.ts';

export class ConfigFault extends Error {
  override readonly name = 'ConfigFault';

  constructor(faults: readonly string[], misspelt: readonly string[]) {
    const count = faults.length === 1 ? 'a fault' : `${String(faults.length)} faults`;
    const lines = [
      `The settings have ${count}:`,
      ...faults.map((fault) => `  ${fault}`),
      ...misspelt,
      'docs/settings.md lists every setting with its default.',
    ];
    super(lines.join('\n'));
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads all settings. @throws ConfigFault with all faults */
export const loadConfig = (environment: Environment): Config => {
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value.trim() !== ''),
  );
  const result = v.safeParse(v.object(schemas), set, { abortPipeEarly: true });
  const wrong = result.success
    ? []
    : result.issues.map(({ path, message }) => `${String(path?.[0]?.key)}: ${message}`);
  const config = result.success ? configFrom(byCode(result.output)) : undefined;
  const faults = [
    ...wrong,
    ...faultsOfGiven(set),
    ...clashesIn(set),
    ...(config ? faultsOf(config) : []),
  ];
  if (!config || faults.length > 0) {
    throw new ConfigFault(faults, nearNames(environment, Object.keys(settings)));
  }
  return config;
};

/** Finds the database and the data folder, even if other settings are invalid. */
export const placesIn = (
  environment: Environment,
): { readonly databaseUrl: string; readonly dataDir: string } => {
  const dataDir = environment['DATA_DIR']?.trim() ? environment['DATA_DIR'] : 'var';
  const given = environment['DATABASE_URL'];
  return { dataDir, databaseUrl: given?.trim() ? given : databaseIn(dataDir) };
};

const databaseIn = (dataDir: string): string => `sqlite:${join(dataDir, 'animal-store.db')}`;

const schemas = Object.fromEntries(
  Object.entries<Setting>(settings).map(([name, { schema, byDefault }]) => [
    name,
    v.optional<v.GenericSchema<string, unknown>, string | undefined>(schema, byDefault),
  ]),
);

const byCode = (output: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(output).map(([name, value]) => [camelCase(name), value]),
  ) as unknown as Given;

/** Finds conflicting addresses. Works even if other settings are invalid, so that one message lists all faults. */
const clashesIn = (set: Environment): readonly string[] => {
  const listening = Object.entries(schemas).filter(([name]) => /(HOST|PORT)$/.test(name));
  const result = v.safeParse(v.object(Object.fromEntries(listening)), set);
  if (!result.success) return [];
  const named = set['ROLES'] === undefined ? usualRoles(set['ACME_DNS_ZONE']) : list(set['ROLES']);
  return portClashes({ ...byCode(result.output), roles: named });
};

const configFrom = (given: Given): Config => {
  const production = given.nodeEnv === 'production';
  const roles = given.roles ?? usualRoles(given.acmeDnsZone);
  return {
    ...given,
    production,
    databaseUrl: given.databaseUrl ?? databaseIn(given.dataDir),
    publicUrl: given.publicUrl ?? `http://${reachable(given.host)}:${String(given.port)}/v1`,
    platformAddresses: given.platformAddresses ?? [reachableAddress(given.edgeHost)],
    roles,
    processes: processesFor(given, roles),
    allowTestDomains: given.allowTestDomains ?? !production,
    acme: authorityAt(given.acmeDirectoryUrl, {
      email: given.acmeEmail,
      eab: bindingOf(given.acmeEabKid, given.acmeEabHmac),
      issuers: given.caaIssuer,
      profile: given.acmeProfile,
    }),
    acmeFallback: authorityAt(given.acmeFallbackDirectoryUrl, {
      email: given.acmeFallbackEmail,
      eab: bindingOf(given.acmeFallbackEabKid, given.acmeFallbackEabHmac),
      issuers: given.caaFallbackIssuer,
      // Names of profiles differ between authorities.
      profile: undefined,
    }),
  };
};

const usualRoles = (acmeDnsZone: string | undefined): readonly string[] =>
  allRoles.filter((role) => role !== 'dns' || acmeDnsZone !== undefined);

/** Only one process is a worker, so a second process without another role would be idle. */
const processesFor = ({ processes }: Given, roles: readonly string[]): number => {
  if (processes !== 'auto') return processes;
  return isWorkerAlone(roles) ? 1 : availableParallelism();
};

const reachableAddress = (host: string): string => {
  if (host === '::') return '::1';
  return isIP(host) === 0 || host === '0.0.0.0' ? '127.0.0.1' : host;
};

const reachable = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? '127.0.0.1' : urlHost(host);

const authorityAt = (
  directoryUrl: string | undefined,
  others: Omit<AcmeConfig, 'directoryUrl'>,
): AcmeConfig | undefined => (directoryUrl === undefined ? undefined : { directoryUrl, ...others });

const bindingOf = (kid: string | undefined, hmac: string | undefined): AcmeConfig['eab'] =>
  kid === undefined || hmac === undefined ? undefined : { kid, hmac };
