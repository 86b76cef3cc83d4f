import { randomUUID } from 'node:crypto';
import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  SamplingDecision,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import pTimeout from 'p-timeout';
import { OtelTracer } from './otel-tracer.ts';

const longestValue = 2_000;
const lastSpansMs = 3_000;
/** Spans beyond the queue are dropped, so that no request waits and memory is bounded. */
const queue = { maxQueueSize: 4_096, maxExportBatchSize: 512, scheduledDelayMillis: 2_000 };
const concurrencyLimit = 1 + Math.ceil(queue.maxQueueSize / queue.maxExportBatchSize);

export interface TracerSettings extends ExportReport {
  readonly version: string;
  readonly onLate: () => void;
}

/** Reads the receiver, headers, sampling and service name from the environment. */
export const openTracer = (settings: TracerSettings): OtelTracer =>
  tracerTo(new OTLPTraceExporter({ concurrencyLimit }), settings);

export const tracerTo = (receiver: SpanExporter, settings: TracerSettings): OtelTracer => {
  const exporter = reporting(receiver, settings);
  const provider = new TracerProvider({
    resource: resourceOf(settings.version),
    sampler: samplerIn(process.env),
    spanLimits: { attributeValueLengthLimit: longestValue },
    spanProcessors: [new BatchSpanProcessor({ exporter, ...queue })],
  });
  const close = () =>
    pTimeout(provider.shutdown(), { milliseconds: lastSpansMs, fallback: settings.onLate }).catch(
      () => undefined,
    );
  return new OtelTracer(provider.getTracer('animal-store', settings.version), close);
};

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

/** Ignores a caller's `sampled` flag, so that callers can neither force nor prevent recording. */
export const samplerIn = (environment: Readonly<Record<string, string | undefined>>): Sampler => {
  const root = rootFor(environment['OTEL_TRACES_SAMPLER'], environment['OTEL_TRACES_SAMPLER_ARG']);
  return new ParentBasedSampler({ root, remoteParentSampled: root, remoteParentNotSampled: root });
};

const rootFor = (name = '', share = '1'): Sampler => {
  const ratio = Number(share);
  const isShare = ratio >= 0 && ratio <= 1;
  if (name.endsWith('always_off')) return new AlwaysOffSampler();
  return name.endsWith('traceidratio') && isShare ? byChance(ratio) : new AlwaysOnSampler();
};

const byChance = (ratio: number): Sampler => ({
  shouldSample: () => ({ decision: Math.random() < ratio ? recorded : notRecorded }),
  toString: () => `ByChance{${String(ratio)}}`,
});

const { RECORD_AND_SAMPLED: recorded, NOT_RECORD: notRecorded } = SamplingDecision;

interface ExportReport {
  readonly onAway: (error: unknown) => void;
  readonly onBack: (lostSpans: number) => void;
}

const reporting = (receiver: SpanExporter, { onAway, onBack }: ExportReport): SpanExporter => {
  let lost = 0;
  return {
    export: (spans, done) => {
      receiver.export(spans, (result) => {
        const isDelivered = result.code === ExportResultCode.SUCCESS;
        if (!isDelivered && lost === 0) onAway(result.error);
        if (isDelivered && lost > 0) onBack(lost);
        lost = isDelivered ? 0 : lost + spans.length;
        done(result);
      });
    },
    shutdown: () => receiver.shutdown(),
  };
};
