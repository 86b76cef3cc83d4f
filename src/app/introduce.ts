import { join } from 'node:path';
import type { Container } from 'inversify';
import type { Logger } from 'pino';
import type { Access } from '../access/access.ts';
import { Clock } from '../kernel/ports.ts';
import { JobLeases } from '../kernel/queue.ts';
import { AccessKey, ProcessKey } from './keys.ts';
import { dashboardOrigin, signInUrl, urlHost, SiteAddresses } from './settings/addresses.ts';
import type { Config } from './settings/settings.ts';
import { commandName } from './version.ts';

interface Welcome {
  readonly accountId: string;
  readonly secret: string;
  readonly signInUrl: string;
}

const firstAccountMs = 60_000;

/** Creates an account in an empty database outside production. Of several processes, only one creates it. */
const firstAccountIn = (container: Container, config: Config) => {
  const [leases, holder] = [container.get(JobLeases), container.get(ProcessKey)];
  const [clock, access] = [container.get(Clock), container.get(AccessKey)];
  return async (): Promise<Welcome | undefined> => {
    const now = clock.now();
    const job = 'open the first account';
    if (!(await leases.hold(job, holder, now, new Date(now.getTime() + firstAccountMs)))) {
      return undefined;
    }
    try {
      return await openFirstAccount(access, config);
    } finally {
      await leases.release(job, holder);
    }
  };
};

const openFirstAccount = async (access: Access, config: Config): Promise<Welcome | undefined> => {
  if ((await access.listAccounts()).length > 0) return undefined;
  const { account, key } = await access.createAccount({
    name: 'My animal store',
    email: 'owner@animal-store.test',
    plan: 'pro',
  });
  const link = await access.signInLinkFor(account.email, account.id);
  return {
    accountId: account.id,
    secret: key.secret,
    signInUrl: signInUrl(link.secret, config),
  };
};

const placesOf = (container: Container, config: Config) => ({
  ...(config.roles.includes('api') && { api: config.publicUrl }),
  ...(config.roles.includes('dashboard') && { dashboard: `${dashboardOrigin(config)}/dashboard` }),
  ...(config.roles.includes('edge') && { sites: siteOf(container) }),
  ...(config.roles.includes('dns') && { dns: zoneAt(config) }),
});

const siteOf = (container: Container): string =>
  container.get(SiteAddresses).urlOf('project').replace('project', '<project>');

const zoneAt = ({ acmeDnsZone = '', dnsHost, dnsPort }: Config): string =>
  `${acmeDnsZone} at ${urlHost(dnsHost)}:${String(dnsPort)}`;

/**
 * Says that all processes serve; outside production, with the first account's key. Call after listening, because the
 * key is shown only once, and a failed start must not waste it.
 */
export const introducing = (
  container: Container,
  config: Config,
  log: Logger,
): (() => Promise<void>) => {
  const places = placesOf(container, config);
  const site = siteOf(container);
  const firstAccount = firstAccountIn(container, config);
  return async () => {
    const { production, processes } = config;
    if (production) log.info({ ...(processes > 1 && { processes }), ...places }, 'ready');
    else process.stdout.write(`${banner(config, site, await firstAccount())}\n`);
  };
};

const banner = (config: Config, sites: string, welcome: Welcome | undefined): string => {
  const { publicUrl, roles, host, port, dataDir, acme } = config;
  const lines = roles.includes('api')
    ? [`Animal Store serves ${publicUrl} (reference: ${publicUrl.replace(/\/v1$/, '/docs')})`]
    : [
        `Animal Store runs as ${roles.join(', ')}; health at http://${host}:${String(port)}/healthz`,
      ];
  if (roles.includes('dashboard'))
    lines.push(`The dashboard: ${dashboardOrigin(config)}/dashboard`);
  if (roles.includes('edge')) {
    const trust = acme ? '' : `; trust ${join(dataDir, 'local-ca.pem')}`;
    lines.push(`Sites are at ${sites}${trust}`);
  }
  if (roles.includes('dns')) lines.push(`The zone ${zoneAt(config)}, over UDP and TCP`);
  if (welcome) {
    lines.push(
      '',
      `Account ${welcome.accountId} on plan pro was created for you. Its API key, shown this once:`,
      `  ${welcome.secret}`,
      '',
      ...(roles.includes('dashboard')
        ? [
            'Sign in to the dashboard with this link, once and within 15 minutes:',
            `  ${welcome.signInUrl}`,
            '',
          ]
        : []),
      'Try it:',
      `  curl -H 'Authorization: Bearer ${welcome.secret}' '${publicUrl}/pets?limit=20'`,
    );
  } else {
    lines.push(`To create another API key: ${commandName()} key create --account ID --name NAME`);
  }
  return lines.join('\n');
};
