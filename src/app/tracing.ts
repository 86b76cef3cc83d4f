import type { ResolutionContext } from 'inversify';
import type { Logger } from 'pino';
import type { Ids } from '../kernel/ports.ts';
import { Tracer, type Beginning } from '../kernel/tracer.ts';
import { onDemand } from './on-demand.ts';
import type { Config } from './settings/settings.ts';
import { version } from './version.ts';

const longestReason = 200;

/** Opens the tracer. @param log called only later @returns undefined without `OTEL_EXPORTER_OTLP_ENDPOINT` */
export const openTracing = async (
  config: Config,
  log: () => Logger,
): Promise<Tracer | undefined> => {
  if (config.otelExporterOtlpEndpoint === undefined) return undefined;
  const { openTracer } = await onDemand.traces();
  const tracer = openTracer({
    version: version(),
    onAway: (error) => {
      const text = 'traces are lost: the receiver does not accept them';
      tracer.apart(() => {
        log().warn({ err: shortened(error) }, text);
      });
    },
    onBack: (lostSpans) => {
      tracer.apart(() => {
        log().info({ lostSpans }, 'traces are sent again');
      });
    },
    onLate: () => {
      log().warn('the last traces are lost: the receiver did not accept them in time');
    },
  });
  return tracer;
};

/** Omits the receiver's answer, which may be a whole page. */
const shortened = (error: unknown): { readonly message: string; readonly code?: unknown } => {
  if (!(error instanceof Error)) return { message: 'no answer' };
  const { message, code } = error as NodeJS.ErrnoException;
  return { message: message.slice(0, longestReason), code };
};

export const tracerOf = (c: ResolutionContext): Tracer | undefined =>
  c.get(Tracer, { optional: true });

export const begun = <T>(
  tracer: Tracer | undefined,
  beginning: Beginning,
  work: () => Promise<T>,
): Promise<T> => (tracer ? tracer.begin(beginning, work) : work());

export const notingEvents = (tracer: Tracer, ids: Ids): Ids => ({
  next: (prefix) => {
    const id = ids.next(prefix);
    if (prefix === 'evt') tracer.stores(id);
    return id;
  },
});
