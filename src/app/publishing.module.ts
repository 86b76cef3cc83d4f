import { randomBytes } from 'node:crypto';
import { uploadSlots } from '../adapters/dashboard/projects/slots.ts';
import { NodeDnsVerifier } from '../adapters/dns/node-dns-verifier.ts';
import { ThreadedUnpacking } from '../adapters/threads/threaded-unpacking.ts';
import { TldtsHostNames } from '../adapters/system/tldts-host-names.ts';
import { Accounts } from '../access/key-ports.ts';
import { Clock } from '../kernel/clock.ts';
import { DnsVerifier, DomainAllowances, HostNames } from '../domains/ports.ts';
import { Allowances, SiteUnpacking } from '../sites/ports.ts';
import { ConfigKey } from './keys.ts';
import { allowancesByPlan, PlanAllowances } from './plan-allowances.ts';
import { deploysFolder } from './settings/deploys-place.ts';
import { threadEntry } from './threads/thread-entry.ts';
import type { UnpackingSetup } from './threads/unpack-sites.ts';
import { tracerOf } from './tracing.ts';
import { wiring } from './wiring.ts';

/** Where there is no object store. */
export const folderUnpacking = wiring((_once, bind) => {
  bind(SiteUnpacking).toService(ThreadedUnpacking);
});

export const publishing = wiring((once, bind) => {
  once(ThreadedUnpacking, (c) => {
    const setup: UnpackingSetup = { folder: deploysFolder(c.get(ConfigKey)) };
    const entry = threadEntry('unpack-sites');
    return new ThreadedUnpacking({ entry, setup, threads: uploadSlots.unpacking.all });
  }).onDeactivation((unpacking) => unpacking.close());
  once(
    DnsVerifier,
    (c) =>
      new NodeDnsVerifier({
        servers: c.get(ConfigKey).dnsServers,
        clock: c.get(Clock),
        tracer: tracerOf(c),
        asksForDelegation: c.get(ConfigKey).acmeDnsZone !== undefined,
        randomLabel: () => `as-${randomBytes(8).toString('hex')}`,
      }),
  );
  bind(HostNames).toConstantValue(new TldtsHostNames());
  once(Allowances, (c) => new PlanAllowances(c.get(Accounts), allowancesByPlan(c.get(ConfigKey))));
  bind(DomainAllowances).toService(Allowances);
});
