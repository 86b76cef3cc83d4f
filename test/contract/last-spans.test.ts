import { afterAll, expect, test } from '@jest/globals';
import { openTracer } from '../../src/adapters/tracing/open-tracer.ts';
import { OtlpReceiver } from '../support/tracing/otlp-receiver.ts';

afterAll(() => {
  delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
});

test('all waiting spans are sent at shutdown, however many batches that takes', async () => {
  const receiver = await OtlpReceiver.start();
  Object.assign(process.env, receiver.settings);
  const told: string[] = [];
  const tracer = openTracer({
    version: '1.0.0',
    onAway: (error) => told.push(String(error)),
    onBack: (lost) => told.push(`back: ${lost}`),
    onLate: () => told.push('late'),
  });
  const beginning = { name: 'GET', kind: 'server', facts: {} } as const;
  const all = Array.from({ length: 4_000 }, () => tracer.begin(beginning, () => Promise.resolve()));
  await Promise.all(all);
  await tracer.close();
  expect(told).toEqual([]);
  expect(receiver.spans).toHaveLength(4_000);
  await receiver.stop();
});
