import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openDomainLab, platformHost, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { goLive } from '../lab/going-live.ts';
import { json, type Shop } from '../lab/shop.ts';
import { startObjectStore, type ObjectStore } from '../support/servers/object-store.ts';
import { DashboardVisitor } from '../support/dashboard/visitor.ts';
import type { Service } from '../support/service/service-process.ts';
import { OtlpReceiver, type ReceivedSpan } from '../support/tracing/otlp-receiver.ts';
import { until } from '../support/until.ts';

const host = 'www.traced.test';
const callersTrace = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const visitorsTrace = 'beef0000beef0000beef0000beef0000';
const callersSpan = 'beef00000000beef';

/** Values that outsiders send and receive and that nobody else may read. */
const secrets = {
  receiver: 'Bearer-of-the-receiver-7311',
  serviceKey: '5d1f0c7ab2e94836f7d0ce1b8a4592e3',
  petName: 'Rex-whose-name-is-private',
  idempotencyKey: 'order-4711-of-mia',
  query: 'looked-for-in-private',
  email: 'mia.traced@zoo.example',
  state: 'vendor=what-a-caller-says-0815',
} as const;

interface NewAccount {
  readonly account: { readonly id: string };
  readonly key: { readonly secret: string };
  readonly signInUrl: string;
}

let receiver: OtlpReceiver;
let bucket: ObjectStore;
let clock: FakeClock;
let lab: DomainLab;
let service: Service;
let shop: Shop;
let owner: NewAccount;
let asked: Awaited<ReturnType<typeof askAll>>;
beforeAll(async () => {
  [receiver, bucket] = await Promise.all([OtlpReceiver.start(), startObjectStore()]);
  clock = await newFakeClock();
  lab = await openDomainLab('sqlite', {
    ...clock.settings,
    ...receiver.settings,
    ...bucket.settings,
    // Long enough for a busy machine to connect to Redis.
    REDIS_URL: `${process.env['TEST_REDIS_URL'] ?? ''}?commandTimeout=60000`,
    SECRET_KEY: secrets.serviceKey,
    OTEL_EXPORTER_OTLP_HEADERS: `x-receiver-key=${secrets.receiver}`,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=lab',
  });
  shop = await lab.openShop('traced', 'pro');
  const fields = ['--name', 'Mia', '--email', secrets.email, '--plan', 'pro'];
  owner = await json<NewAccount>(lab.run, ['account', 'create', ...fields]);
  service = await lab.start();
  await until('it is ready', async () => (await fetch(`${service.origin}/readyz`)).ok);
  // Spans are sent every two seconds, so everything is done before any are read.
  asked = await askAll();
  const visitor = await lab.visitor();
  const traceparent = `00-${visitorsTrace}-${callersSpan}-01`;
  await until('the site is served', async () => {
    const [site, path] = [`${shop.slug}.${platformHost}`, `/?looked=${secrets.query}`];
    const answer = await visitor.get(site, path, { traceparent }).catch(() => undefined);
    return answer?.status === 200;
  });
  const { records } = await shop.add(host);
  lab.zone.create(records[0]);
  await goLive({ lab, clock }, host);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
  await Promise.all([receiver.stop(), bucket.stop()]);
});

interface Sent extends Omit<RequestInit, 'headers'> {
  readonly headers?: Readonly<Record<string, string>>;
}

const send = (path: string, init: Sent = {}): Promise<Response> =>
  fetch(service.origin + path, {
    ...init,
    headers: { Authorization: `Bearer ${owner.key.secret}`, ...init.headers },
  });

const askAll = async () => {
  const post = await send('/v1/pets?looked=for', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Idempotency-Key': secrets.idempotencyKey,
      traceparent: `00-${callersTrace}-${callersSpan}-00`,
      tracestate: secrets.state,
      baggage: `secret=${secrets.state}`,
    },
    body: JSON.stringify({ name: secrets.petName, categoryId: 3 }),
  });
  const get = await send(`/v1/pets/42?name=${secrets.query}`);
  const page = await new DashboardVisitor(service.origin).get(new URL(owner.signInUrl).pathname);
  return { post, get, page };
};

const logLine = (match: RegExp): Promise<Record<string, unknown>> =>
  until(`a line in the log like ${match.source}`, () => {
    const line = service
      .stdout()
      .split('\n')
      .find((one) => match.test(one));
    return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>);
  });

const names = (spans: readonly ReceivedSpan[]) => spans.map(({ name }) => name);

test("a POST continues its caller's trace, with the POST's statements below it", async () => {
  const answer = asked.post;
  expect(answer.status).toBe(201);
  const requestId = answer.headers.get('X-Request-Id');
  expect(await answer.text()).not.toContain(callersTrace);
  expect([...answer.headers.values()].join()).not.toContain(callersTrace);

  const post = await receiver.span('the POST', ({ name }) => name === 'POST /v1/pets');
  expect(post).toMatchObject({ kind: 'server', isError: false, traceId: callersTrace });
  expect(post.parentId).toBe(callersSpan);
  expect(post.facts).toEqual({
    'http.request.method': 'POST',
    'http.route': '/v1/pets',
    'http.response.status_code': 201,
    'url.path': '/v1/pets',
    'url.scheme': 'http',
    'network.protocol.version': '1.1',
    'animal_store.request.id': requestId,
  });
  expect(post.resource).toMatchObject({
    'service.name': 'animal-store',
    'service.version': expect.any(String),
    'deployment.environment.name': 'lab',
    'telemetry.sdk.language': 'nodejs',
  });
  const statements = receiver.below(post);
  expect(names(statements)).toEqual(
    expect.arrayContaining(['Redis takeQuota', 'INSERT pets', 'INSERT events', 'COMMIT']),
  );
  expect(statements.find(({ name }) => name === 'Redis takeQuota')).toMatchObject({
    kind: 'client',
    facts: {
      'db.system.name': 'redis',
      'db.operation.name': 'EVALSHA',
      'db.stored_procedure.name': 'takeQuota',
    },
  });
  expect(statements.find(({ name }) => name === 'INSERT pets')).toMatchObject({
    kind: 'client',
    facts: {
      'db.system.name': 'sqlite',
      'db.namespace': expect.stringMatching(/\.db$/),
      'db.operation.name': 'INSERT',
      'db.collection.name': 'pets',
      'db.query.text': expect.stringMatching(/^insert into "pets" \(.*\) values \(\?.*\)/),
    },
  });
  expect(await logLine(/"method":"POST"/)).toMatchObject({
    traceId: callersTrace,
    requestId,
    status: 201,
  });
});

test('a request without a trace starts one, named by the pattern of its path', async () => {
  expect(asked.get.status).toBe(404);
  const get = await receiver.span('the GET', ({ name }) => name === 'GET /v1/pets/{petId}');
  expect(get).toMatchObject({ parentId: '', isError: false });
  expect(get.facts).toMatchObject({ 'url.path': '/v1/pets/42', 'http.response.status_code': 404 });
  const { traceId } = await logLine(/"path":"\/v1\/pets\/42"/);
  expect(traceId).toBe(get.traceId);
});

test('a page starts a trace too, without the secret in its path', async () => {
  expect(asked.page.status).toBeLessThan(400);
  const page = await receiver.span('the page', ({ facts }) =>
    String(facts['url.path']).includes('sign-in'),
  );
  expect(page.name).toMatch(/^GET \/dashboard\/sign-in\/:/);
  expect(page.facts['url.path']).toBe('/dashboard/sign-in/…');
});

test("a visit of a site continues its visitor's trace, with reads from the object store below it", async () => {
  const isVisit = ({ name, facts, traceId }: ReceivedSpan) =>
    name === 'GET site' &&
    traceId === visitorsTrace &&
    facts['http.response.status_code'] === 200 &&
    facts['url.scheme'] === 'https';
  const visit = await receiver.span('the visit', isVisit);
  expect(visit).toMatchObject({ kind: 'server', isError: false, parentId: callersSpan });
  expect(visit.facts).toEqual({
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'url.path': '/',
    'url.scheme': 'https',
    'network.protocol.version': expect.stringMatching(/^(1\.1|2\.0)$/),
  });
  const read = await receiver.span(
    'a read from the store',
    ({ name, traceId, isError }) =>
      name === 'S3 GetObject' && traceId === visitorsTrace && !isError,
  );
  expect(read.kind).toBe('client');
  expect(read.facts).toEqual({
    'rpc.system': 'aws-api',
    'rpc.service': 'S3',
    'rpc.method': 'GetObject',
    'aws.s3.bucket': 'deploys',
  });
});

test('a check of a domain is a trace with its DNS queries, and leads to a linked delivery', async () => {
  const isCheck = ({ name, facts }: ReceivedSpan) =>
    name === 'tend domain' && facts['animal_store.domain.host'] === host;
  const delivery = await receiver.span(
    'the delivery',
    ({ name, isError }) => name === 'process domain_verified' && !isError,
  );
  const [link] = delivery.links;
  const check = await receiver.span(
    'its check',
    (one) => isCheck(one) && one.traceId === link?.traceId,
  );
  expect(check).toMatchObject({ kind: 'internal', parentId: '', isError: false });
  expect(check.facts).toEqual({
    'animal_store.domain.id': expect.any(String),
    'animal_store.domain.host': host,
    'animal_store.domain.state': 'added',
  });
  const below = receiver.below(check);
  const questions = below.filter(({ name }) => name.startsWith('DNS '));
  expect(new Set(names(questions))).toEqual(
    new Set(['DNS A', 'DNS AAAA', 'DNS CNAME', 'DNS TXT', 'DNS CAA', 'DNS NS', 'DNS SOA']),
  );
  const cname = questions.find(
    ({ name, facts, isError }) =>
      name === 'DNS CNAME' && facts['dns.question.name'] === host && !isError,
  );
  expect(cname?.kind).toBe('client');
  expect(cname?.facts).toEqual({
    'dns.question.name': host,
    'animal_store.dns.question.type': 'CNAME',
    'animal_store.dns.outcome': 'records',
    'server.address': expect.stringMatching(/^127\./),
    'server.port': expect.any(Number),
  });
  expect(names(below)).toContain('UPDATE domains');
  const ofRelay = /^(SELECT|UPDATE|DELETE) .*deliveries|^process /;
  expect(names(below).filter((name) => ofRelay.test(name))).toEqual([]);

  expect(delivery).toMatchObject({ kind: 'consumer', parentId: '' });
  expect(delivery.traceId).not.toBe(check.traceId);
  expect(delivery.facts).toEqual({
    'messaging.system': 'animal_store',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': 'domain_verified',
    'messaging.destination.subscription.name': 'domains',
    'messaging.message.id': expect.stringMatching(/^evt_/),
    'animal_store.account.id': shop.accountId,
  });
});

test('an issuance is traced as steps at the authority, below the work on its domain', async () => {
  const stepOf = (step: string) =>
    receiver.span(
      step,
      ({ name, facts, isError }) =>
        name === `ACME ${step}` && facts['animal_store.acme.host'] === host && !isError,
    );
  for (const step of ['order', 'look', 'prove', 'finalize']) {
    const span = await stepOf(step);
    expect(span.kind).toBe('client');
    expect(span.facts).toMatchObject({
      'animal_store.acme.step': step,
      'server.address': expect.any(String),
    });
    const above = await receiver.span(
      `what ${step} belongs to`,
      ({ spanId }) => spanId === span.parentId,
    );
    expect(above).toMatchObject({ name: 'tend domain', traceId: span.traceId });
  }
  await receiver.span('the end', ({ facts }) => facts['animal_store.acme.outcome'] === 'issued');
});

test('every span has its parent, and scheduled work is a separate trace', async () => {
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  const { spans } = receiver;
  const ids = new Set(spans.map(({ spanId }) => spanId));
  expect(ids.size).toBe(spans.length);
  const orphans = spans.filter(
    ({ parentId }) => parentId !== '' && parentId !== callersSpan && !ids.has(parentId),
  );
  expect(names(orphans)).toEqual([]);
  const counts = spans.filter(({ name }) => name === 'count what is stored');
  expect(counts).not.toEqual([]);
  expect(counts.filter(({ parentId }) => parentId !== '')).toEqual([]);
});

test('no secret is in the spans that are sent', () => {
  const { everything } = receiver;
  const given = [
    ...Object.values(secrets),
    owner.key.secret,
    new URL(owner.signInUrl).pathname.split('/').at(-1),
  ];
  for (const secret of given) expect(everything).not.toContain(secret);
  expect(everything).not.toMatch(/PRIVATE KEY|pets_live_[0-9A-Za-z]{5}|@zoo\.example/);
  const headers = receiver.headers.map((one) => one['x-receiver-key']);
  expect(new Set(headers)).toEqual(new Set([secrets.receiver]));
  expect(service.stdout()).not.toContain(secrets.receiver);
});
