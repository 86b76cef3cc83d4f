import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import type { Container } from 'inversify';
import type { Access } from '../access/access.ts';
import { Clock } from '../kernel/clock.ts';
import { JobLeases } from '../kernel/job-leases.ts';
import { dashboardOrigin, signInUrl } from './settings/addresses.ts';
import { commandName } from './command-name.ts';
import { loadConfig, type Config } from './settings/config.ts';
import { redaction } from './settings/redaction.ts';
import { warnOfUnknownKeys } from './sealed-under.ts';
import { startWarnings } from './settings/start-warnings.ts';
import { openContainer } from './container.ts';
import { AccessKey, ProcessKey } from './keys.ts';
import { createLog, type Log } from './log.ts';
import { startRoles } from './roles.ts';
import { SiteAddresses } from './site-addresses.ts';

/** Once listening ended. */
const stopDeadlineMs = 10_000;

/** Runs the service until a signal stops it. */
export const serve = async (): Promise<void> => {
  const config = loadConfig(process.env);
  const { log, flush } = createLog(config.logLevel, redaction(process.env));
  const container = await openContainer(config, log);
  for (const warning of startWarnings(config)) log.warn(warning);
  await warnOfUnknownKeys(container, log);
  const stop = await startRoles(container, config, log).catch((error: unknown) => {
    flush();
    throw error;
  });
  try {
    stopOnSignal(stop, { log, flush, deadlineMs: stopDeadlineMs + config.drainSeconds * 1000 });
    // After listening, because the key is shown only once and a failed start must not waste that.
    const welcome = await firstAccount(container, config);
    const sites = container.get(SiteAddresses).urlOf('project').replace('project', '<project>');
    if (config.production) log.info(placesOf(config, sites), 'ready');
    else process.stdout.write(`${banner(config, sites, welcome)}\n`);
    flush();
    // Now rather than at the end, which a killed process does not have: the next start is faster.
    flushCompileCache();
  } catch (error) {
    await stop();
    flush();
    throw error;
  }
};

/** The first signal shuts down gracefully and exits 0; a second one exits at once. */
const stopOnSignal = (
  stop: () => Promise<void>,
  { log, flush, deadlineMs }: Log & { readonly deadlineMs: number },
): void => {
  // Exits at once, because a hanging database connection must not keep a finished process alive.
  const exit = (code: number) => {
    flush();
    process.exit(code);
  };
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) exit(signal === 'SIGINT' ? 130 : 143);
    stopping = true;
    log.info({ signal }, 'stopping: finishing requests in progress');
    setTimeout(() => {
      log.error('not finished in time, stopping anyway');
      exit(1);
    }, deadlineMs);
    stop().then(
      () => {
        log.info('stopped');
        exit(0);
      },
      (error: unknown) => {
        log.error({ err: error }, 'could not stop cleanly');
        exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
};

interface Welcome {
  readonly accountId: string;
  readonly secret: string;
  readonly signInUrl: string;
}

const firstAccountMs = 60_000;

/** Outside production an empty database gets an account, so that there is something to try. Of several processes one opens it. */
const firstAccount = async (container: Container, config: Config): Promise<Welcome | undefined> => {
  if (config.production) return undefined;
  const [leases, holder] = [container.get(JobLeases), container.get(ProcessKey)];
  const now = container.get(Clock).now();
  const job = 'open the first account';
  if (!(await leases.hold(job, holder, now, new Date(now.getTime() + firstAccountMs)))) {
    return undefined;
  }
  try {
    return await openFirstAccount(container.get(AccessKey), config);
  } finally {
    await leases.release(job, holder);
  }
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

/** In production standard output has JSON only. */
const placesOf = (config: Config, sites: string) => ({
  ...(config.roles.includes('api') && { api: config.publicUrl }),
  ...(config.roles.includes('dashboard') && { dashboard: `${dashboardOrigin(config)}/dashboard` }),
  ...(config.roles.includes('edge') && { sites }),
});

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
    lines.push(`Another API key: ${commandName()} key create --account ID --name NAME`);
  }
  return lines.join('\n');
};
