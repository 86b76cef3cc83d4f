import {
  Tracer,
  type Beginning,
  type Span,
  type Step,
  type StepFacts,
} from '../../src/kernel/tracer.ts';

export class RecordingTracer extends Tracer {
  readonly steps: { name: string; kind: Step['kind']; facts: StepFacts; failure?: string }[] = [];
  override readonly traceId = undefined;
  override readonly isRecording = true;

  override begin<T>(beginning: Beginning, work: (span: Span) => Promise<T>): Promise<T> {
    return this.step(beginning, work);
  }

  override async step<T>(
    { name, kind, facts }: Step,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const step: (typeof this.steps)[number] = { name, kind, facts };
    this.steps.push(step);
    try {
      return await work({
        rename: (other) => (step.name = other),
        tell: (more) => (step.facts = { ...step.facts, ...more }),
        fail: (type) => (step.failure = type),
      });
    } catch (error) {
      step.failure = (error as Error).name;
      throw error;
    }
  }

  override apart<T>(work: () => T): T {
    return work();
  }

  override stores(): void {
    // This tracer links nothing.
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }
}
