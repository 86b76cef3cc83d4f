import { setTimeout as delay } from 'node:timers/promises';
import { startDns, type DnsServer } from '../lab/dns/server.ts';
import { DashboardVisitor, type PageAnswer, signInFirst } from '../support/dashboard/visitor.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import {
  liftLimits,
  newHome,
  printedKey,
  type Service,
} from '../support/service/service-process.ts';
import { within } from '../support/until.ts';
import { readdir, readFile } from 'node:fs/promises';

/** A signed-in person with their own account. */
export interface Customer {
  readonly visitor: DashboardVisitor;
  readonly email: string;
  /** The secret of an API key. */
  readonly key: string;
}

/** The real service on loopback with all its roles, our own name servers, and customers. */
export interface Ground {
  readonly service: Service;
  readonly dns: DnsServer;
  readonly ports: Readonly<Record<'service' | 'edge' | 'secure edge', number>>;
  /** The account of the first start, without limits of requests. */
  readonly attacker: Pick<Customer, 'visitor' | 'key'>;
  readonly secretKey: string;
  readonly dataDir: string;
  readonly databaseUrl: string;
  openAccount(name: string): Promise<Customer>;
  close(): Promise<void>;
}

const secretKey = 'a secret key that only these tests have';

export const once = (): string => `form_${crypto.randomUUID().replaceAll('-', '')}`;

export const siteHost = (slug: string): string => `${slug}.sites.animal-store.test`;

export const openGround = async (
  settings: Readonly<Record<string, string>> = {},
): Promise<Ground> => {
  const dns = await startDns();
  const home = await newHome('sqlite');
  const ports = {
    service: Number(home.settings['PORT']),
    edge: await findFreePort(),
    'secure edge': await findFreePort(),
  };
  const service = await home.start({
    EDGE_HTTP_PORT: String(ports.edge),
    EDGE_HTTPS_PORT: String(ports['secure edge']),
    ALLOW_TEST_DOMAINS: '1',
    DNS_SERVERS: dns.servers.join(','),
    SECRET_KEY: secretKey,
    TRUST_PROXY: '1',
    ...settings,
  });
  const attacker = { visitor: await signInFirst(service), key: printedKey(service) };
  await liftLimits(home, service);
  return {
    service,
    dns,
    ports,
    attacker,
    secretKey,
    dataDir: home.settings['DATA_DIR'] ?? '',
    databaseUrl: home.settings['DATABASE_URL'] ?? '',
    openAccount: async (name) => {
      const email = `${name}@zoo.example`;
      const args = ['account', 'create', '--name', name, '--email', email, '--plan', 'pro'];
      const { stdout, stderr } = await home.run([...args, '--json']);
      if (stdout === '') throw new Error(stderr);
      const { key, signInUrl } = JSON.parse(stdout) as {
        readonly key: { readonly secret: string };
        readonly signInUrl: string;
      };
      const visitor = new DashboardVisitor(service.origin);
      await visitor.get(new URL(signInUrl).pathname);
      return { visitor, email, key: key.secret };
    },
    close: async () => {
      await service.end('SIGTERM');
      await home.remove();
      await dns.close();
    },
  };
};

/** Another signed-in person of the same account. */
export const invite = async (
  visitor: DashboardVisitor,
  email: string,
): Promise<DashboardVisitor> => {
  const { text } = await visitor.post('/dashboard/account/people', {
    email,
    role: 'owner',
    once: once(),
  });
  const [link] = /\/dashboard\/sign-in\/[0-9A-Za-z]{43}/.exec(text) ?? [];
  if (link === undefined) throw new Error(`no sign-in link in:\n${text}`);
  const colleague = new DashboardVisitor(visitor.origin);
  await colleague.get(link);
  return colleague;
};

export const startProject = (visitor: DashboardVisitor, name: string): Promise<PageAnswer> =>
  visitor.post('/dashboard', { name, once: once() });

const boundary = 'end-of-part';

/** The body of a form that uploads an archive, as browsers send it. */
export const uploadBody = (archive: Uint8Array): Buffer =>
  Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="once"\r\n\r\n${once()}\r\n` +
        `--${boundary}\r\nContent-Disposition: form-data; name="archive"; filename="site"\r\n` +
        'Content-Type: application/octet-stream\r\n\r\n',
    ),
    archive,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);

export const uploadHeaders = {
  'Content-Type': `multipart/form-data; boundary=${boundary}`,
  'Sec-Fetch-Site': 'same-origin',
} as const;

export const uploadPath = (slug: string): string => `/dashboard/projects/${slug}/deploys`;

export const upload = (
  visitor: DashboardVisitor,
  slug: string,
  archive: Uint8Array,
): Promise<PageAnswer> =>
  visitor.send(uploadPath(slug), {
    method: 'POST',
    body: new Uint8Array(uploadBody(archive)),
    headers: uploadHeaders,
  });

export const uploadInTurn = (
  visitor: DashboardVisitor,
  slug: string,
  archive: Uint8Array,
): Promise<PageAnswer> =>
  within(90_000, 'there is room for the upload', async () => {
    const answer = await upload(visitor, slug, archive);
    if (![429, 503].includes(answer.status)) return answer;
    await delay(500);
    return undefined;
  });

export const domainsPath = (slug: string): string => `/dashboard/projects/${slug}/settings/domains`;

export const addDomain = (
  visitor: DashboardVisitor,
  slug: string,
  domain: string,
): Promise<PageAnswer> => visitor.post(domainsPath(slug), { domain, once: once() });

export interface ProcessUsage {
  readonly descriptors: number;
  readonly residentMiB: number;
}

export const usageOf = async ({ pid }: { readonly pid: number }): Promise<ProcessUsage> => {
  const [descriptors, status] = await Promise.all([
    readdir(`/proc/${String(pid)}/fd`),
    readFile(`/proc/${String(pid)}/status`, 'utf8'),
  ]);
  const [, residentKiB] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return { descriptors: descriptors.length, residentMiB: Number(residentKiB) / 1024 };
};
