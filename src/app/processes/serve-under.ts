import type { Container } from 'inversify';
import { shownTogether, snapshotOf } from '../../adapters/http/metrics/metrics.ts';
import { introducing, placesOf } from '../introduce.ts';
import { MetricsKey } from '../keys.ts';
import type { Log } from '../log.ts';
import { type Stop, stopAndExit, stopDeadlines } from '../stop-process.ts';
import type { Config } from '../settings/settings.ts';
import type { ParentLink, Stopping } from './parent-link.ts';

/** What runs in this process. */
export interface ServingProcess extends Log {
  readonly container: Container;
  readonly config: Config;
  readonly stop: Stop;
}

/** As one of several processes. */
export const serveUnder = (parent: ParentLink, own: ServingProcess): void => {
  const { container, config, log } = own;
  parent.onStop(stopping(parent, own));
  const metrics = container.get(MetricsKey);
  const introduce = introducing(container, config);
  const snapshot = () => snapshotOf(metrics.registry);
  metrics.showTogether(async () =>
    shownTogether((await parent.gatherMetrics()) ?? [await snapshot()]),
  );
  parent.serves({
    snapshot,
    places: placesOf(container, config),
    introduce: () =>
      introduce().catch((error: unknown) => {
        log.error({ err: error }, 'the first account could not be opened');
      }),
  });
};

/** One that is replaced finishes soon when the whole service ends meanwhile. */
const stopping = (parent: ParentLink, { config, stop, log, flush }: ServingProcess) => {
  const hurry = new AbortController();
  const deadlines = stopDeadlines(config);
  let giveUpAfter: ((ms: number) => void) | undefined;
  return (why: Stopping): void => {
    if (giveUpAfter) {
      if (why !== 'ending' || hurry.signal.aborted) return;
      hurry.abort();
      giveUpAfter(deadlines.ending);
      return;
    }
    log.info({ why }, 'stopping: finishing requests in progress');
    const stopAndLeave = async () => {
      await stop(why === 'replaced' ? hurry.signal : undefined);
      await parent.leave();
    };
    giveUpAfter = stopAndExit(stopAndLeave, { log, flush, deadlineMs: deadlines[why] });
  };
};
