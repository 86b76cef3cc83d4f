import { flushCompileCache } from 'node:module';
import type { Container } from 'inversify';
import { Tracer } from '../kernel/tracer.ts';
import { shownTogether, snapshotOf } from '../adapters/http/metrics/metrics.ts';
import { openContainer } from './container.ts';
import { introducing } from './introduce.ts';
import { createLog, type Log } from './log.ts';
import { Opened, stopDeadlines, stopOnSignal, type Stop, stopAndExit } from './stop-process.ts';
import type { ParentLink, Stopping } from './processes/parent-link.ts';
import { startRoles } from './roles.ts';
import { warnOfUnknownKeys } from './sealed-keys.ts';
import type { Config } from './settings/settings.ts';
import { redaction } from './settings/redaction.ts';
import { startWarnings } from './settings/start-warnings.ts';
import { openTracing } from './tracing.ts';
import { MetricsKey } from './keys.ts';

/** Serves until a signal or the parent stops it. @throws Error after closing everything that was opened */
export const serve = async (config: Config, parent: ParentLink | undefined): Promise<void> => {
  const opened = new Opened();
  try {
    await start(config, parent, opened);
  } catch (error) {
    await opened.giveUp();
    throw error;
  }
};

const start = async (
  config: Config,
  parent: ParentLink | undefined,
  opened: Opened,
): Promise<void> => {
  const tracer = await openTracing(config, () => log);
  const { log, flush } = createLog(config.logLevel, redaction(process.env), {
    pid: parent && process.pid,
    traceId: tracer && (() => tracer.traceId),
  });
  process.once('exit', flush);
  opened.add(() => tracer?.close());
  const container = await openContainer(config, log);
  opened.add(() => container.unbindAllAsync());
  if (tracer) container.bind(Tracer).toConstantValue(tracer);
  // With several processes, the parent logs these once.
  if (!parent) for (const warning of startWarnings(config, process.env)) log.warn(warning);
  await warnOfUnknownKeys(container, log);
  await startRoles(container, log, opened);
  const stop: ServingProcess['stop'] = (isReplaced) => opened.close(isReplaced);
  const service = { container, config, stop, log, flush };
  if (parent) serveUnder(parent, service);
  else await serveAlone(service);
  flush();
  // This speeds up the next start. It runs now, because a killed process cannot do it at its end.
  flushCompileCache();
};

const serveAlone = async ({
  container,
  config,
  stop,
  log,
  flush,
}: ServingProcess): Promise<void> => {
  const introduce = introducing(container, config, log);
  const deadlineMs = stopDeadlines(config).ending;
  stopOnSignal(() => stop(), { log, flush, deadlineMs });
  await introduce();
};

interface ServingProcess extends Log {
  readonly container: Container;
  readonly config: Config;
  readonly stop: Stop;
}

const serveUnder = (parent: ParentLink, own: ServingProcess): void => {
  const { container, config, log } = own;
  parent.onStop(stopping(parent, own));
  const metrics = container.get(MetricsKey);
  const introduce = introducing(container, config, log);
  const snapshot = () => snapshotOf(metrics.registry);
  metrics.showTogether(async () =>
    shownTogether((await parent.gatherMetrics()) ?? [await snapshot()]),
  );
  parent.serves({
    snapshot,
    introduce: () =>
      introduce().catch((error: unknown) => {
        log.error({ err: error }, 'the first account could not be opened');
      }),
  });
};

/** Makes a replaced process hurry if the whole service stops meanwhile. */
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
