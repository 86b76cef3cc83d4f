import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../support/servers/debian-server.ts';
import { newHome, type Service } from '../support/service/service-process.ts';
import { startCaGate } from './authority/ca-gate.ts';
import { startDns } from './dns/server.ts';
import { labIssuer } from './authority/pebble-lab.ts';
import { startPebble } from './authority/pebble.ts';
import { startProviderPage } from './provider-page.ts';
import { readZoneFile } from './dns/zone-file.ts';

/** Everything that a custom domain needs, on loopback, for a person with a browser. */
export interface TryOut {
  readonly service: Service;
  /** Signs in to the dashboard, once. */
  readonly signInUrl: string;
  /** Where DNS records are made. */
  readonly dnsUrl: string;
  /** Does what that page does: from now on these records count, and no others. @returns what is wrong with them */
  createRecords(zoneFile: string): readonly string[];
  readonly edgePort: number;
  /** File with the root of the authority. */
  readonly root: string;
  close(): Promise<void>;
}

const platformHost = 'sites.platform.test';
const platformZone = { [`*.${platformHost}`]: { A: ['127.0.0.1'] } };
const resolvers = 3;

export const startTryOut = async (): Promise<TryOut> => {
  const dns = await startDns(platformZone, resolvers + 1);
  const authorityDns = dns.servers[resolvers] ?? '';
  const httpPort = await findFreePort();
  const edgePort = await findFreePort();
  const pebble = await startPebble({ dns: authorityDns, httpPort });
  const gate = await startCaGate({ pebble, issuer: labIssuer, dns: authorityDns });
  const createRecords = (zoneFile: string): readonly string[] => {
    const { zone, problems } = readZoneFile(zoneFile);
    dns.setZone({ ...zone, ...platformZone });
    return problems;
  };
  const provider = await startProviderPage(createRecords);
  const folder = await mkdtemp(join(tmpdir(), 'try-out-'));
  const trusted = join(folder, 'gate.pem');
  const root = join(folder, 'root.pem');
  await writeFile(trusted, pebble.tls.cert);
  await writeFile(root, await pebble.root());
  const home = await newHome('sqlite');
  const service = await home.start({
    ALLOW_TEST_DOMAINS: '1',
    PLATFORM_HOST: platformHost,
    DNS_SERVERS: dns.servers.slice(0, resolvers).join(','),
    ACME_DIRECTORY_URL: gate.directoryUrl,
    CAA_ISSUER: labIssuer,
    NODE_EXTRA_CA_CERTS: trusted,
    EDGE_HTTP_PORT: String(httpPort),
    EDGE_HTTPS_PORT: String(edgePort),
    LOG_LEVEL: 'warn',
  });
  const [signInUrl = ''] = /http:\S+\/dashboard\/sign-in\/\S+/.exec(service.stdout()) ?? [];
  return {
    ...{ service, signInUrl, dnsUrl: provider.url, createRecords, edgePort, root },
    close: async () => {
      await service.end('SIGTERM');
      await home.remove();
      provider.close();
      gate.close();
      await pebble.stop();
      await dns.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
