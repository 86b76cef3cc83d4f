import { startDns } from '../test/lab/dns/server.ts';
import type { Zone } from '../test/lab/dns/zone.ts';

/**
 * Starts three resolvers with the zone from the first argument (JSON) and writes their addresses to standard error.
 * Does not record queries, which would fill the memory.
 */
const { servers, log } = await startDns(JSON.parse(process.argv[2] ?? '{}') as Zone);
setInterval(() => {
  log.length = 0;
}, 1000);
process.stderr.write(`${servers.join(',')}\n`);
