import { randomUUID } from 'node:crypto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace';
import pTimeout from 'p-timeout';
import { OtelTracer } from './otel-tracer.ts';
import { ReportingExporter, type ExportReport } from './reporting-exporter.ts';
import { samplerFor, type SamplerName } from './sampler.ts';

/** Long statements have thousands of placeholders. */
const longestValue = 2_000;
/** For all batches together; the process wants to end. */
const lastSpansMs = 3_000;
/** Spans that wait. What comes beyond them is dropped: no request waits, and memory is bounded. */
const queue = { maxQueueSize: 4_096, maxExportBatchSize: 512, scheduledDelayMillis: 2_000 };
/** Usually one batch is on its way; at the end all that wait go at once. */
const concurrencyLimit = 1 + Math.ceil(queue.maxQueueSize / queue.maxExportBatchSize);

export interface TracerSettings extends ExportReport {
  readonly version: string;
  readonly sampler: SamplerName;
  readonly ratio: number;
  /** The last spans could not be sent in time. */
  readonly onLate: () => void;
}

/** The packages read where to send spans, with which headers, and the name of the service from the environment. */
export const openTracer = (settings: TracerSettings): OtelTracer =>
  tracerTo(new OTLPTraceExporter({ concurrencyLimit }), settings);

export const tracerTo = (receiver: SpanExporter, settings: TracerSettings): OtelTracer => {
  const exporter = new ReportingExporter(receiver, settings);
  const provider = new TracerProvider({
    resource: resourceOf(settings.version),
    sampler: samplerFor(settings.sampler, settings.ratio),
    spanLimits: { attributeValueLengthLimit: longestValue },
    spanProcessors: [new BatchSpanProcessor({ exporter, ...queue })],
  });
  const close = () =>
    pTimeout(provider.shutdown(), { milliseconds: lastSpansMs, fallback: settings.onLate })
      // Already reported.
      .catch(() => undefined);
  return new OtelTracer(provider.getTracer('animal-store', settings.version), close);
};

/** What the environment says wins. */
const resourceOf = (version: string) =>
  defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': 'animal-store',
        'service.version': version,
        'service.instance.id': randomUUID(),
        'process.pid': process.pid,
      }),
    )
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
