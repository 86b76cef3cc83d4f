import { LabZone } from '../lab/dns/lab-zone.ts';
import { startDns } from '../lab/dns/server.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { startRedisFleet, type RedisFleet } from '../support/servers/sentinels.ts';
import type { Settings } from '../support/service/service-process.ts';

/** What processes on several machines share beside the database, and the DNS in which owners create records. */
export interface Fleet {
  readonly redis: RedisFleet;
  readonly zone: LabZone;
  /** By seat. */
  readonly edgePorts: readonly number[];
  readonly settings: Settings;
  stop(): Promise<void>;
}

const mostProcesses = 2;
const resolvers = 3;

export const startFleet = async (): Promise<Fleet> => {
  const redis = await startRedisFleet();
  const dns = await startDns({}, resolvers);
  const edgePorts = Array.from({ length: mostProcesses }, findFreePort);
  return {
    redis,
    zone: new LabZone(dns, resolvers),
    edgePorts: await Promise.all(edgePorts),
    settings: {
      // On a busy machine, half a second without an answer is no outage.
      REDIS_URL: `${redis.url}?commandTimeout=5000`,
      DNS_SERVERS: dns.servers.join(','),
    },
    stop: async () => {
      await dns.close();
      await redis.stop();
    },
  };
};
