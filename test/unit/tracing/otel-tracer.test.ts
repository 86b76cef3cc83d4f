import { expect, test } from '@jest/globals';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { OtelTracer } from '../../../src/adapters/tracing/otel-tracer.ts';
import { samplerIn } from '../../../src/adapters/tracing/open-tracer.ts';
import type { Beginning, StepFacts } from '../../../src/kernel/tracer.ts';

const opened = (name?: string, share?: number) => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    sampler: samplerIn({
      OTEL_TRACES_SAMPLER: name,
      OTEL_TRACES_SAMPLER_ARG: share === undefined ? share : String(share),
    }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  const tracer = new OtelTracer(provider.getTracer('test'), () => provider.shutdown());
  return { tracer, spans: () => exporter.getFinishedSpans() };
};

const request = (traceparent?: string): Beginning => ({
  name: 'GET',
  kind: 'server',
  facts: {},
  continues: traceparent,
});
const query = { name: 'SELECT pets', kind: 'client', facts: {} } as const;
const nothing = () => Promise.resolve();
const trace = '0af7651916cd43dd8448eb211c80319c';
const parent = 'b7ad6b7169203331';

test('a span belongs to the active operation, even after a wait, and the log contains the trace', async () => {
  const { tracer, spans } = opened();
  let traceId: string | undefined;
  await tracer.begin(request(), async () => {
    await nothing();
    await tracer.step(query, nothing);
    traceId = tracer.traceId;
  });
  const [step, root] = spans();
  expect(step?.parentSpanContext?.spanId).toBe(root?.spanContext().spanId);
  expect(traceId).toBe(root?.spanContext().traceId);
  expect(tracer.traceId).toBeUndefined();
});

test('a span outside an operation, detached from it or after its end only runs its work', async () => {
  const { tracer, spans } = opened();
  expect(await tracer.step(query, () => Promise.resolve('done'))).toBe('done');
  let late: (() => Promise<void>) | undefined;
  await tracer.begin(request(), async () => {
    await tracer.apart(() => tracer.step(query, nothing));
    const over = Promise.withResolvers<undefined>();
    const waiting = over.promise.then(() => tracer.step(query, nothing));
    late = () => {
      over.resolve(undefined);
      return waiting;
    };
  });
  await late?.();
  expect(spans().map(({ name }) => name)).toEqual(['GET']);
});

test.each(['00', '01'])('a caller’s trace continues, whatever its flags %s say', async (flags) => {
  const { tracer, spans } = opened();
  await tracer.begin(request(`00-${trace}-${parent}-${flags}`), nothing);
  const [span] = spans();
  expect(span?.spanContext()).toMatchObject({ traceId: trace, traceFlags: 1 });
  expect(span?.parentSpanContext?.spanId).toBe(parent);
});

test.each([
  ...['', '00', `00-${trace}-${parent}`, `00-${'0'.repeat(32)}-${parent}-01`],
  ...[`00-${trace}-${'0'.repeat(16)}-01`, `ff-${trace}-${parent}-01`, `00-${trace}-${parent}-01-x`],
  ...[
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
  ],
])('an invalid traceparent starts a new trace: %j', async (traceparent) => {
  const { tracer, spans } = opened();
  await tracer.begin(request(traceparent), nothing);
  expect(spans()[0]?.parentSpanContext).toBeUndefined();
  expect(spans()[0]?.spanContext().traceId).not.toBe(trace);
});

test('an unsampled operation has a trace id for the log, but records no spans', async () => {
  const { tracer, spans } = opened('parentbased_always_off');
  const traceId = await tracer.begin(request(`00-${trace}-${parent}-01`), async () => {
    await tracer.step(query, nothing);
    return tracer.traceId;
  });
  expect(traceId).toBe(trace);
  expect(spans()).toEqual([]);
});

test('a caller cannot choose a trace id that is always or never recorded', async () => {
  const { tracer, spans } = opened('traceidratio', 0.5);
  for (const traceId of ['0'.repeat(31) + '1', 'f'.repeat(32)]) {
    for (let n = 0; n < 200; n++) {
      await tracer.begin(request(`00-${traceId}-${parent}-01`), nothing);
    }
  }
  const recorded = Map.groupBy(spans(), (span) => span.spanContext().traceId);
  // The chance of a value outside is less than one in a billion.
  for (const { length } of recorded.values()) expect(Math.abs(length - 100)).toBeLessThan(50);
  expect(recorded.size).toBe(2);
});

test('a failure is recorded by its code or name, never by its message, and is passed on', async () => {
  const { tracer, spans } = opened();
  const failing = (error: unknown) =>
    tracer.begin(request(), () => Promise.reject(error as Error)).catch(() => undefined);
  await failing(Object.assign(new Error('secret'), { code: 'ECONNREFUSED' }));
  await failing(Object.assign(new TypeError('secret'), { code: 'a secret' }));
  await failing('secret');
  expect(spans().map(({ attributes }) => attributes['error.type'])).toEqual([
    ...['ECONNREFUSED', 'TypeError', 'unknown'],
  ]);
  expect(spans().every(({ status, events }) => status.code === 2 && events.length === 0)).toBe(
    true,
  );
});

test('a delivery is linked to the operation that stored its event, if that is known', async () => {
  const { tracer, spans } = opened();
  await tracer.begin(request(), () => {
    tracer.stores('evt_1');
    return nothing();
  });
  for (const causedBy of ['evt_1', 'evt_2']) {
    await tracer.begin({ name: 'process', kind: 'consumer', facts: {}, causedBy }, nothing);
  }
  const [post, linked, unlinked] = spans();
  expect(linked?.links.map(({ context }) => context.spanId)).toEqual([post?.spanContext().spanId]);
  expect(linked?.parentSpanContext).toBeUndefined();
  expect(unlinked?.links).toEqual([]);
});

test('every attribute name is defined by OpenTelemetry or by us', () => {
  const known = new Set<unknown>(Object.values(conventions));
  const others = Object.keys(factNames).filter((name) => !known.has(name));
  expect(others.filter((name) => !name.startsWith('animal_store.'))).toEqual([]);
});

/** All facts. A missing one does not compile. */
const factNames = {
  'http.request.method': true,
  'http.route': true,
  'http.response.status_code': true,
  'url.path': true,
  'url.scheme': true,
  'network.protocol.version': true,
  'server.address': true,
  'server.port': true,
  'db.system.name': true,
  'db.namespace': true,
  'db.operation.name': true,
  'db.collection.name': true,
  'db.query.text': true,
  'db.stored_procedure.name': true,
  'rpc.system': true,
  'rpc.service': true,
  'rpc.method': true,
  'aws.s3.bucket': true,
  'dns.question.name': true,
  'messaging.system': true,
  'messaging.operation.name': true,
  'messaging.operation.type': true,
  'messaging.destination.name': true,
  'messaging.destination.subscription.name': true,
  'messaging.message.id': true,
  'animal_store.request.id': true,
  'animal_store.account.id': true,
  'animal_store.domain.id': true,
  'animal_store.domain.host': true,
  'animal_store.domain.state': true,
  'animal_store.webhook.id': true,
  'animal_store.webhook.type': true,
  'animal_store.dns.question.type': true,
  'animal_store.dns.outcome': true,
  'animal_store.acme.step': true,
  'animal_store.acme.host': true,
  'animal_store.acme.outcome': true,
} as const satisfies Record<keyof StepFacts, true>;
