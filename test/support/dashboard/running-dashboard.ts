import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Container } from 'inversify';
import pino from 'pino';
import type { Plan } from '../../../src/access/domain/quota.ts';
import { Passwords } from '../../../src/access/people-ports.ts';
import type { Dashboard } from '../../../src/adapters/dashboard/dashboard.ts';
import { HttpServer } from '../../../src/adapters/http/listener/http-server.ts';
import { ScriptedDns } from '../domains/scripted-dns.ts';
import { PlainPasswords } from '../plain-passwords.ts';
import { SettableClock } from '../settable-clock.ts';
import { loadConfig } from '../../../src/app/settings/config.ts';
import { openContainer } from '../../../src/app/container.ts';
import { AccessKey, DashboardKey } from '../../../src/app/keys.ts';
import { Clock, Deadline } from '../../../src/kernel/ports.ts';
import { DnsVerifier } from '../../../src/domains/ports.ts';
import { Tracer } from '../../../src/kernel/tracer.ts';
import { DashboardVisitor } from './visitor.ts';
import { migratedDatabase } from '../servers/migrated-database.ts';
import { findFreePort } from '../servers/debian-server.ts';
import { SystemClock, AsyncDeadline } from '../../../src/adapters/system/system-ports.ts';

export interface Owner {
  readonly accountId: string;
  readonly email: string;
  readonly visitor: DashboardVisitor;
}

export interface RunningDashboard {
  readonly origin: string;
  readonly container: Container;
  readonly clock: SettableClock;
  readonly dns: ScriptedDns;
  readonly databaseUrl: string;
  readonly routes: Dashboard['routes'];
  readonly log: readonly string[];
  newOwner(draft?: { readonly name?: string; readonly plan?: Plan }): Promise<Owner>;
  /** Starts another session of a person, from a new network. */
  signIn(email: string, browser?: string): Promise<DashboardVisitor>;
  linkFor(email: string): Promise<string>;
  stranger(): DashboardVisitor;
  close(): Promise<void>;
}

export interface DashboardOptions {
  readonly now?: Date;
  readonly settings?: Readonly<Record<string, string>>;
  readonly tracer?: Tracer;
}

/** Deadline of each request, so long that no test fails on a busy machine. */
const deadlineMs = 60 * 60_000;

/**
 * Starts the real dashboard in this process, on an empty SQLite database, with a stopped clock and passwords that cost
 * no time.
 */
export const startDashboard = async ({
  now = new SystemClock().now(),
  settings = {},
  tracer,
}: DashboardOptions = {}): Promise<RunningDashboard> => {
  const home = await migratedDatabase('sqlite');
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-data-'));
  const port = await findFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const log: string[] = [];
  const config = loadConfig({
    DATABASE_URL: home.url,
    DATA_DIR: folder,
    PUBLIC_URL: `${origin}/v1`,
    SECRET_KEY: 'a secret key for tests, long enough',
    ALLOW_TEST_DOMAINS: '1',
    ...settings,
  });
  const lines = { write: (line: string) => void log.push(line) };
  const container = await openContainer(config, pino({ level: 'info' }, lines));
  if (tracer) container.bind(Tracer).toConstantValue(tracer);
  const clock = new SettableClock(now);
  const dns = new ScriptedDns(clock);
  container.rebind(Clock).toConstantValue(clock);
  container.rebind(Deadline).toConstantValue(new AsyncDeadline(deadlineMs));
  container.rebind(DnsVerifier).toConstantValue(dns);
  container.rebind(Passwords).toConstantValue(new PlainPasswords());
  const server = container.get(HttpServer);
  await server.listen('127.0.0.1', port);
  const access = container.get(AccessKey);
  const cookieName = config.publicUrl.startsWith('https:') ? '__Host-session' : 'session';

  let networks = 0;
  const signIn = async (email: string, browser = 'Firefox') => {
    const { secret } = await access.signInLinkFor(email);
    const network = `192.0.2.${(networks += 1)}`;
    const session = await access.signInByLink(secret, { network, browser });
    return new DashboardVisitor(origin, `${cookieName}=${session.secret}`);
  };
  let owners = 0;
  return {
    origin,
    container,
    clock,
    dns,
    log,
    signIn,
    databaseUrl: home.url,
    get routes() {
      return container.get(DashboardKey).routes;
    },
    newOwner: async ({ name = 'Zoo', plan = 'business' } = {}) => {
      const email = `owner-${(owners += 1)}@zoo.example`;
      const { account } = await access.createAccount({ name, email, plan });
      return { accountId: account.id, email, visitor: await signIn(email) };
    },
    linkFor: async (email) => `/dashboard/sign-in/${(await access.signInLinkFor(email)).secret}`,
    stranger: () => new DashboardVisitor(origin),
    close: async () => {
      if (container.isBound(DashboardKey)) container.get(DashboardKey).close();
      await server.stop();
      await container.unbindAllAsync();
      await home.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
