import { expect, jest, test } from '@jest/globals';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { tracerTo } from '../../../src/adapters/tracing/open-tracer.ts';
import type { OtelTracer } from '../../../src/adapters/tracing/otel-tracer.ts';
import { until } from '../../support/until.ts';

type Export = Parameters<SpanExporter['export']>;

class HeldReceiver implements SpanExporter {
  readonly #waiting: Export[] = [];
  spans = 0;

  export(...[spans, done]: Export): void {
    this.spans += spans.length;
    this.#waiting.push([spans, done]);
  }

  answer(error?: Error): void {
    for (const [, done] of this.#waiting.splice(0)) done(error ? { code: 1, error } : { code: 0 });
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}

const opened = () => {
  const receiver = new HeldReceiver();
  const told: string[] = [];
  const tracer = tracerTo(receiver, {
    version: '1.0.0',
    onAway: (error) => told.push(`away: ${String(error)}`),
    onBack: (lost) => told.push(`back: ${lost}`),
    onLate: () => told.push('late'),
  });
  return { receiver, tracer, told };
};

const record = async (tracer: OtelTracer, spans: number): Promise<void> => {
  const beginning = { name: 'GET', kind: 'server', facts: {} } as const;
  for (let n = 0; n < spans; n++) await tracer.begin(beginning, () => Promise.resolve());
};

test('beyond a few thousand, unaccepted spans are dropped, and the receiver gets one batch at a time', async () => {
  const { receiver, tracer } = opened();
  await record(tracer, 6_000);
  expect(receiver.spans).toBe(512);
  const closed = tracer.close();
  await until('all that was kept has come', () => {
    receiver.answer();
    return receiver.spans > 4_000;
  });
  receiver.answer();
  await closed;
  expect(receiver.spans).toBe(512 + 4_096);
});

test('a shutdown does not wait for a receiver that does not answer', async () => {
  const { receiver, tracer, told } = opened();
  await record(tracer, 10);
  jest.useFakeTimers();
  const closed = tracer.close();
  await jest.advanceTimersByTimeAsync(2_999);
  expect(told).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  await closed;
  jest.useRealTimers();
  expect(told).toEqual(['late']);
  receiver.answer();
});

test('lost spans are logged once, and their number when spans are accepted again', async () => {
  const { receiver, tracer, told } = opened();
  for (const error of [new Error('no'), new Error('still no'), undefined, undefined]) {
    const before = receiver.spans;
    await record(tracer, 512);
    await until('a batch has come', () => receiver.spans > before);
    receiver.answer(error);
    // The next batch begins in a later turn.
    await new Promise(setImmediate);
  }
  expect(told).toEqual(['away: Error: no', 'back: 1024']);
  await tracer.close();
});
