import Koa from 'koa';
import { limitsOf } from '../src/access/domain/plan.ts';
import { scopes } from '../src/access/domain/api-key.ts';
import { IdempotencyKeys } from '../src/access/ports.ts';
import { Cursors } from '../src/adapters/http/operations/cursor.ts';
import { framing } from '../src/adapters/http/framing.ts';
import { HttpServer } from '../src/adapters/http/listener/http-server.ts';
import { Metrics } from '../src/adapters/http/metrics.ts';
import { operationRoute } from '../src/adapters/http/operations/operation-route.ts';
import { petOperations } from '../src/adapters/http/operations/pet-operations.ts';
import { routing } from '../src/adapters/http/operations/routing.ts';
import { loadConfig } from '../src/app/settings/config.ts';
import { openContainer } from '../src/app/container.ts';
import { CatalogueKey } from '../src/app/keys.ts';
import { createLog } from '../src/app/log.ts';
import { Acting } from '../src/kernel/acting.ts';
import { Clock } from '../src/kernel/clock.ts';
import { Deadline } from '../src/kernel/deadline.ts';

/** The API as it is, but for the access step: no key is checked, nothing counted, no limit on the answer. */
const [accountId = ''] = process.argv.slice(2);

const config = loadConfig(process.env);
const { log } = createLog(config.logLevel, (text) => text);
const container = await openContainer(config, log);
const clock = container.get(Clock);
const metrics = container.get(Metrics);
const baseUrl = config.publicUrl;
const caller = {
  accountId,
  keyId: 'key_bench',
  plan: 'enterprise',
  limits: limitsOf('enterprise', undefined),
  scopes,
  ban: undefined,
} as const;

const app = new Koa();
app.use(framing({ log, metrics, clock, onAnswered: () => undefined, fixedHeaders: {} }));
app.use((ctx, next) => {
  ctx.state['caller'] = caller;
  return next();
});
const routes = {
  catalogue: container.get(CatalogueKey),
  cursors: new Cursors([new Uint8Array(32)]),
  baseUrl,
};
const [idempotencyKeys, acting] = [container.get(IdempotencyKeys), container.get(Acting)];
const deadline = container.get(Deadline);
const ports = { idempotencyKeys, acting, clock, deadline, baseUrl };
app.use(
  routing(
    petOperations(routes, config.petByIdDeprecatedSince).map((operation) => ({
      method: operation.method,
      path: `/v1${operation.path}`,
      answer: operationRoute(operation, ports),
    })),
  ),
);
await new HttpServer(app.callback()).listen(config.host, config.port);
