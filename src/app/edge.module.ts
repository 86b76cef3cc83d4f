import { ChallengeAnswers } from '../adapters/edge/challenge-answers.ts';
import { EdgeServer, type EdgeSettings } from '../adapters/edge/edge-server.ts';
import { RouteTable } from '../adapters/edge/route-table.ts';
import { SiteShelf } from '../adapters/edge/site-shelf.ts';
import { addressBucket } from '../adapters/http/listener/client-address.ts';
import { RunningWork } from '../adapters/system/running-work.ts';
import { CertificateOrders } from '../domains/certificate-ports.ts';
import { EdgeRecords } from '../domains/edge-ports.ts';
import { SiteFiles } from '../sites/ports.ts';
import { ConfigKey, LogKey, EdgeServerKey, RouteTableKey } from './keys.ts';
import { visit } from './watched-work.ts';
import { wiring } from './wiring.ts';

export const edge = wiring((once) => {
  once(
    RouteTableKey,
    (c) => new RouteTable(c.get(EdgeRecords), c.get(ConfigKey).platformHost, c.get(LogKey)),
  );
  once(
    EdgeServerKey,
    (c) =>
      new EdgeServer(
        {
          routes: c.get(RouteTableKey),
          shelf: new SiteShelf(c.get(SiteFiles)),
          challenges: new ChallengeAnswers(
            (host, token) => c.get(CertificateOrders).answer(host, token),
            c.get(LogKey),
          ),
          log: c.get(LogKey),
          networkOf: addressBucket,
        },
        notingVisits(c.get(RunningWork)),
      ),
  );
});

const notingVisits = (running: RunningWork): EdgeSettings => ({
  onRequest: (request) => {
    running.note(visit(request));
  },
});
