import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { SpanExporter } from '@opentelemetry/sdk-trace';

type Spans = Parameters<SpanExporter['export']>[0];

export interface ExportReport {
  /** Spans were lost; said once, until spans arrive again. */
  readonly onAway: (error: unknown) => void;
  readonly onBack: (lostSpans: number) => void;
}

/** Tells when spans cannot be delivered, and when they can be again. */
export class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #report: ExportReport;
  #lost = 0;

  constructor(exporter: SpanExporter, report: ExportReport) {
    this.#exporter = exporter;
    this.#report = report;
  }

  export(spans: Spans, done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.#delivered();
      else this.#failed(spans.length, result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  #delivered(): void {
    const lost = this.#lost;
    this.#lost = 0;
    if (lost > 0) this.#report.onBack(lost);
  }

  #failed(spans: number, error: unknown): void {
    if (this.#lost === 0) this.#report.onAway(error);
    this.#lost += spans;
  }
}
