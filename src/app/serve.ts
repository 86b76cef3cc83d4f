import { flushCompileCache } from 'node:module';
import { openContainer } from './container.ts';
import { Tracer } from '../kernel/tracer.ts';
import { introducing, placesOf } from './introduce.ts';
import { createLog } from './log.ts';
import { Opened, stopDeadlines, stopOnSignal } from './stop-process.ts';
import type { ParentLink } from './processes/parent-link.ts';
import { serveUnder, type ServingProcess } from './processes/serve-under.ts';
import { startRoles } from './roles.ts';
import { warnOfUnknownKeys } from './sealed-keys.ts';
import type { Config } from './settings/settings.ts';
import { redaction } from './settings/redaction.ts';
import { startWarnings } from './settings/start-warnings.ts';
import { openTracing } from './tracing.ts';

/** Serves in this process until a signal or its parent stops it. @throws Error after it has given back what it opened */
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
  // Several processes have a parent that says it once.
  if (!parent) for (const warning of startWarnings(config, process.env)) log.warn(warning);
  await warnOfUnknownKeys(container, log);
  await startRoles(container, log, opened);
  const stop: ServingProcess['stop'] = (isReplaced) => opened.close(isReplaced);
  const service = { container, config, stop, log, flush };
  if (parent) serveUnder(parent, service);
  else await serveAlone(service);
  flush();
  // Now rather than at the end, which a killed process does not have: the next start is faster.
  flushCompileCache();
};

const serveAlone = async ({
  container,
  config,
  stop,
  log,
  flush,
}: ServingProcess): Promise<void> => {
  const introduce = introducing(container, config);
  const deadlineMs = stopDeadlines(config).ending;
  stopOnSignal(() => stop(), { log, flush, deadlineMs });
  if (config.production) log.info(placesOf(container, config), 'ready');
  else await introduce();
};
