import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import {
  authorityFaults,
  fallbackAuthority,
  preferredAuthority,
  type AcmeConfig,
  type AuthoritySetting,
} from './authorities.ts';
import { addressFaults, secretFaults } from './config-safety.ts';
import { isWorkerAlone, processFaults } from './process-faults.ts';
import { portClashes, urlHost } from './listeners.ts';
import { usualRoles } from './process-settings.ts';
import { camelCase } from './setting.ts';
import { settings, type Given } from './settings.ts';
import { isIP, list } from './setting-schemas.ts';
import { zoneFaults } from './zone-faults.ts';

/** What the settings say; those that are not named here are as given. */
export interface Config extends Omit<
  Given,
  Renamed | 'databaseUrl' | 'publicUrl' | 'platformAddresses' | 'processes' | 'roles'
> {
  readonly production: boolean;
  readonly databaseUrl: string;
  /** Absolute, ends in /v1, no slash at its end. */
  readonly publicUrl: string;
  /** The addresses that an apex has to resolve to. */
  readonly platformAddresses: readonly string[];
  readonly roles: readonly string[];
  /** How many serve together. */
  readonly processes: number;
  /** Undefined: certificates come from a local authority, for development. */
  readonly acme: AcmeConfig | undefined;
  /** Asked when that one does not answer, or CAA forbids it. */
  readonly acmeFallback: AcmeConfig | undefined;
  /** The key that is being replaced; it still opens and verifies older values. */
  readonly previousSecretKey: string | undefined;
}

type Renamed = 'nodeEnv' | 'secretKeyPrevious' | AuthoritySetting;

/** Everything that is wrong with the settings, in one message. */
export class ConfigFault extends Error {
  override readonly name = 'ConfigFault';

  constructor(faults: readonly string[]) {
    const count = faults.length === 1 ? 'a fault' : `${String(faults.length)} faults`;
    super(
      `The settings have ${count}:\n${faults.map((fault) => `  ${fault}`).join('\n')}\n` +
        'docs/operations.md lists every setting with its default.',
    );
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws ConfigFault that lists every fault at once */
export const loadConfig = (environment: Environment): Config => {
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value.trim() !== ''),
  );
  const result = v.safeParse(v.object(schemas), set, { abortPipeEarly: true });
  const faults = result.success
    ? []
    : result.issues.map(({ path, message }) => `${String(path?.[0]?.key)}: ${message}`);
  faults.push(
    ...secretFaults({
      production: set['NODE_ENV'] === 'production',
      secretKey: set['SECRET_KEY'],
      previousSecretKey: set['SECRET_KEY_PREVIOUS'],
    }),
  );
  faults.push(...authorityFaults(set));
  if ((set['PLATFORM_CERTIFICATE_FILE'] === undefined) !== (set['PLATFORM_KEY_FILE'] === undefined))
    faults.push('PLATFORM_CERTIFICATE_FILE, PLATFORM_KEY_FILE: set both or neither');
  if (set['SMTP_URL'] !== undefined && set['MAIL_FROM'] === undefined) {
    faults.push(
      'MAIL_FROM: is required with SMTP_URL; an address of yours, like store@shop.example',
    );
  }
  faults.push(...clashesIn(set));
  const config = result.success ? configFrom(byCode(result.output)) : undefined;
  if (config)
    faults.push(...addressFaults(config), ...zoneFaults(config), ...processFaults(config));
  if (!config || faults.length > 0) throw new ConfigFault(faults);
  return config;
};

/** Where things are kept, also beside settings that are at fault. */
export const placesIn = (
  environment: Environment,
): { readonly databaseUrl: string; readonly dataDir: string } => {
  const dataDir = environment['DATA_DIR']?.trim() ? environment['DATA_DIR'] : 'var';
  const given = environment['DATABASE_URL'];
  return { dataDir, databaseUrl: given?.trim() ? given : databaseIn(dataDir) };
};

const databaseIn = (dataDir: string): string => `sqlite:${join(dataDir, 'animal-store.db')}`;

const schemas = Object.fromEntries(
  Object.entries(settings).map(([name, { schema, byDefault }]) => [
    name,
    v.optional<v.GenericSchema<string, unknown>, string | undefined>(schema, byDefault),
  ]),
);

/** Each was read by the schema that its type comes from. */
const byCode = (output: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(output).map(([name, value]) => [camelCase(name), value]),
  ) as unknown as Given;

/** Also beside faults of other settings, a wrong role among them: one message has all of them. */
const clashesIn = (set: Environment): readonly string[] => {
  const listening = Object.entries(schemas).filter(([name]) => /(HOST|PORT)$/.test(name));
  const result = v.safeParse(v.object(Object.fromEntries(listening)), set);
  if (!result.success) return [];
  const named = set['ROLES'] === undefined ? usualRoles(set['ACME_DNS_ZONE']) : list(set['ROLES']);
  return portClashes({ ...byCode(result.output), roles: named });
};

const configFrom = (given: Given): Config => {
  const { nodeEnv, secretKeyPrevious, ...rest } = given;
  const { acmeDirectoryUrl, acmeEmail, acmeEabKid, acmeEabHmac, acmeProfile, ...others } = rest;
  const { acmeFallbackDirectoryUrl, acmeFallbackEmail, acmeFallbackEabKid, ...more } = others;
  const { acmeFallbackEabHmac, caaIssuer, caaFallbackIssuer, ...asGiven } = more;
  const { databaseUrl, dataDir, host, port, publicUrl, platformAddresses, edgeHost } = asGiven;
  const roles = given.roles ?? usualRoles(given.acmeDnsZone);
  return {
    ...asGiven,
    production: nodeEnv === 'production',
    databaseUrl: databaseUrl ?? databaseIn(dataDir),
    publicUrl: publicUrl ?? `http://${reachable(host)}:${String(port)}/v1`,
    platformAddresses: platformAddresses ?? [reachableAddress(edgeHost)],
    roles,
    processes: processesFor(given, roles),
    previousSecretKey: secretKeyPrevious,
    acme: preferredAuthority(given),
    acmeFallback: fallbackAuthority(given),
  };
};

/** Only one of them is a worker, so a second one of a worker alone would have nothing to do. */
const processesFor = ({ processes }: Given, roles: readonly string[]): number => {
  if (processes !== 'auto') return processes;
  return isWorkerAlone(roles) ? 1 : availableParallelism();
};

/** Where the edge listens, as far as that is an address; everywhere is the loopback address from here. */
const reachableAddress = (host: string): string => {
  if (host === '::') return '::1';
  return isIP(host) === 0 || host === '0.0.0.0' ? '127.0.0.1' : host;
};

/** A process that listens everywhere is reached at the loopback address from here. */
const reachable = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? '127.0.0.1' : urlHost(host);
