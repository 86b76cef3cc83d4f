import { startDns } from '../test/lab/dns/server.ts';
import type { Zone } from '../test/lab/dns/zone.ts';

/**
 * Three resolvers with the zone of the first argument, in JSON; their addresses go to standard error. Does not record
 * the queries, which would only fill the memory.
 */
const { servers, log } = await startDns(JSON.parse(process.argv[2] ?? '{}') as Zone);
setInterval(() => {
  log.length = 0;
}, 1000);
process.stderr.write(`${servers.join(',')}\n`);
