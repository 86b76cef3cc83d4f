import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findFreePort } from '../support/servers/debian-server.ts';
import {
  liftLimits,
  newHome,
  printedKey,
  type Home,
  type Service,
} from '../support/service/service-process.ts';
import { OtlpReceiver } from '../support/tracing/otlp-receiver.ts';
import { until } from '../support/until.ts';

let home: Home;
let receiver: OtlpReceiver | undefined;
beforeEach(async () => {
  home = await newHome('sqlite');
});
afterEach(async () => {
  await home.remove();
  await receiver?.stop();
  receiver = undefined;
});

/** The deadline of the last spans, plus time for a busy machine. */
const longestStopMs = 3_000 + 4_000;

const start = (endpoint: string, more: Readonly<Record<string, string>> = {}): Promise<Service> =>
  home.start({ ROLES: 'api', OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...more });

/** @returns the duration of each */
const requests = async (service: Service, count: number): Promise<readonly number[]> => {
  const headers = { Authorization: `Bearer ${printedKey(service)}` };
  const took: number[] = [];
  for (let begun = 0; begun < count; begun += 20) {
    const send = async () => {
      const since = performance.now();
      const { status } = await fetch(`${service.origin}/v1/pets`, { headers });
      took.push(performance.now() - since);
      expect(status).toBe(200);
    };
    await Promise.all(Array.from({ length: 20 }, send));
  }
  return took;
};

const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[numbers.length / 2] ?? 0;

const stopsInTime = async (service: Service): Promise<void> => {
  const since = performance.now();
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(performance.now() - since).toBeLessThan(longestStopMs);
};

const saysOf = (service: Service, words: string): number =>
  service.stdout().split(words).length - 1;

test('while the receiver of traces is unavailable, nothing waits and the log says so once; then spans arrive again', async () => {
  const port = await findFreePort();
  const settings = { OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
  const service = await start(`http://127.0.0.1:${port}`, settings);
  await liftLimits(home, service);
  expect(median(await requests(service, 60))).toBeLessThan(1_000);
  await until('the log says it', () => saysOf(service, 'traces are lost') === 1);
  await requests(service, 20);
  receiver = await OtlpReceiver.start(port);
  await until('spans arrive', async () => {
    await requests(service, 20);
    return receiver?.spans.some(({ name }) => name === 'GET /v1/pets');
  });
  await until('the log says that too', () => saysOf(service, 'traces are sent again') === 1);
  expect(saysOf(service, 'traces are lost')).toBe(1);
  await stopsInTime(service);
});

test('a receiver of traces that never answers delays neither requests nor a stop', async () => {
  receiver = await OtlpReceiver.start();
  receiver.mood = 'silent';
  const service = await start(receiver.url);
  await liftLimits(home, service);
  expect(median(await requests(service, 1_000))).toBeLessThan(1_000);
  expect((await fetch(`${service.origin}/readyz`)).status).toBe(200);
  await stopsInTime(service);
  expect(saysOf(service, 'the last traces are lost')).toBe(1);
});

test('a receiver of traces that refuses them causes one short log line, and nothing else', async () => {
  receiver = await OtlpReceiver.start();
  receiver.mood = 'failing';
  const service = await start(receiver.url);
  await requests(service, 20);
  await until('the log says it', () => saysOf(service, 'traces are lost') === 1);
  await requests(service, 20);
  await stopsInTime(service);
  const lines = service
    .stdout()
    .split('\n')
    .filter((line) => line.includes('traces are lost'));
  expect(lines).toHaveLength(1);
  expect(lines[0]?.length).toBeLessThan(500);
  expect(lines[0]).not.toContain('traceId');
  expect(service.stderr()).toBe('');
});

test('the last spans are sent before the process ends', async () => {
  receiver = await OtlpReceiver.start();
  const service = await start(receiver.url);
  await requests(service, 20);
  await stopsInTime(service);
  expect(receiver.spans.filter(({ name }) => name === 'GET /v1/pets')).toHaveLength(20);
});

test('each of several processes sends its own spans', async () => {
  receiver = await OtlpReceiver.start();
  const service = await start(receiver.url, {
    ROLES: 'edge,worker',
    PROCESSES: '2',
    ...(await edgePorts()),
  });
  await until('both have sent', async () => {
    for (let n = 0; n < 8; n++) {
      await fetch(`${service.origin}/healthz`, { headers: { Connection: 'close' } });
    }
    return (
      new Set(receiver?.spans.map(({ resource }) => resource['service.instance.id'])).size === 2
    );
  });
  await stopsInTime(service);
});

const edgePorts = async () => ({
  EDGE_HTTP_PORT: String(await findFreePort()),
  EDGE_HTTPS_PORT: String(await findFreePort()),
});
