import { ChallengeAnswers } from '../../adapters/edge/edge-handler.ts';
import { EdgeServer, type EdgeSettings } from '../../adapters/edge/edge-server.ts';
import { WatchedPlatformFiles } from '../../adapters/edge/platform-files.ts';
import { RouteTable } from '../../adapters/edge/route-table.ts';
import { SiteCache } from '../../adapters/edge/site-cache.ts';
import { addressBucket } from '../../adapters/http/listener/client-address.ts';
import { NameServer } from '../../adapters/nameserver/name-server.ts';
import { RunningWork, visit } from '../../adapters/system/event-loop-watch.ts';
import { CertificateOrders, DnsChallenges } from '../../domains/certificate-ports.ts';
import { EdgeRecords } from '../../domains/ports.ts';
import { Clock, Deadline } from '../../kernel/ports.ts';
import { SiteFiles } from '../../sites/ports.ts';
import {
  ConfigKey,
  EdgeServerKey,
  LogKey,
  NameServerKey,
  PlatformFilesKey,
  RouteTableKey,
} from '../keys.ts';
import { tracerOf } from '../tracing.ts';
import { web } from './web.ts';
import { wiring } from './wiring.ts';

const edge = wiring((once) => {
  once(RouteTableKey, (c) => {
    const { platformHost: host } = c.get(ConfigKey);
    const files = c.get(PlatformFilesKey).files;
    return new RouteTable(c.get(EdgeRecords), { host, files }, c.get(LogKey));
  });
  once(PlatformFilesKey, (c) => {
    const { platformHost, platformCertificateFile, platformKeyFile } = c.get(ConfigKey);
    if (platformCertificateFile === undefined || platformKeyFile === undefined)
      return { files: undefined };
    const paths = { certificateFile: platformCertificateFile, keyFile: platformKeyFile };
    const ports = { clock: c.get(Clock), log: c.get(LogKey) };
    return { files: new WatchedPlatformFiles(paths, platformHost, ports) };
  }).onDeactivation(({ files }) => {
    files?.stop();
  });
  once(EdgeServerKey, (c) => {
    const [orders, log] = [c.get(CertificateOrders), c.get(LogKey)];
    return new EdgeServer(
      {
        routes: c.get(RouteTableKey),
        cache: new SiteCache(c.get(SiteFiles)),
        challenges: new ChallengeAnswers((host, token) => orders.answer(host, token), log),
        log,
        networkOf: addressBucket,
      },
      {
        ...notingVisits(c.get(RunningWork)),
        tracer: tracerOf(c),
        plainPreviews: !c.get(ConfigKey).production,
      },
    );
  });
});

const notingVisits = (running: RunningWork): EdgeSettings => ({
  onRequest: (request) => {
    running.note(visit(request));
  },
});

const nameServer = wiring((once) => {
  once(NameServerKey, (c) => {
    const [challenges, clock, log] = [c.get(DnsChallenges), c.get(Clock), c.get(LogKey)];
    const [deadline, config] = [c.get(Deadline), c.get(ConfigKey)];
    return new NameServer({
      zone: config.acmeDnsZone ?? '',
      processes: config.processes,
      find: (labels) => deadline.during(() => challenges.valuesFor(labels, clock.now())),
      onError: (error) => {
        log.error({ err: error }, 'name server socket error');
      },
    });
  });
});

export const inbound = [web, edge, nameServer];
