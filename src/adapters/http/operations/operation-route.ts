import type { Context } from 'koa';
import type { IdempotencyKeys } from '../../../access/ports.ts';
import type { Acting } from '../../../kernel/acting.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Deadline } from '../../../kernel/deadline.ts';
import type { Answer, Call, Operation } from './operation.ts';
import { parse, queryRecord } from './parse.ts';
import type { Route } from './routing.ts';
import { readJsonBody } from './request-body.ts';
import { admit, callerOf } from './metering.ts';
import { answerOnce, refuseRemoved, requireJsonAccepted, requireScope } from './steps.ts';

export interface RoutePorts {
  readonly idempotencyKeys: IdempotencyKeys;
  readonly acting: Acting;
  readonly clock: Clock;
  readonly deadline: Deadline;
  readonly baseUrl: string;
}

/** The steps of every request, in order: authenticate, authorise, parse, answer. */
export const operationRoute =
  (operation: Operation, ports: RoutePorts): Route['answer'] =>
  async (ctx, parameters) => {
    ctx.state['operation'] = operation.id;
    announceRemoval(ctx, operation, ports.baseUrl);
    admit(ctx);
    const caller = callerOf(ctx);
    refuseRemoved(operation, ports.baseUrl, ports.clock.now());
    requireScope(caller, operation);
    requireJsonAccepted(ctx);
    send(ctx, await answerOf(ctx, operation, { caller, parameters }, ports));
  };

const send = (ctx: Context, { status, headers, body }: Answer): void => {
  ctx.status = status;
  if (headers) ctx.set(headers);
  // Set before the body: Koa then does not look for the type of the text.
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = typeof body === 'string' ? body : JSON.stringify(body);
};

/** On every answer of a deprecated operation: since when (RFC 9745), until when (RFC 8594), what instead. */
const announceRemoval = (ctx: Context, { deprecation }: Operation, baseUrl: string): void => {
  if (!deprecation) return;
  const { since, sunset, successor } = deprecation;
  ctx.set('Deprecation', `@${String(Math.floor(since.getTime() / 1000))}`);
  ctx.set('Sunset', sunset.toUTCString());
  ctx.set('Link', `<${baseUrl}${successor}>; rel="successor-version"`);
};

const answerOf = async (
  ctx: Context,
  operation: Operation,
  { caller, parameters }: Pick<Call<unknown, unknown>, 'caller' | 'parameters'>,
  { idempotencyKeys, acting, clock, deadline }: RoutePorts,
): Promise<Answer> => {
  const { query: querySchema, body: bodySchema } = operation;
  const query =
    querySchema && parse(querySchema, queryRecord(ctx.querystring), 'invalid_parameter');
  if (!bodySchema) return operation.handle({ caller, parameters, query, body: undefined });

  // The time to receive the body does not count against the request's deadline.
  const { text, value } = await deadline.apart(() => readJsonBody(ctx));
  const body = parse(bodySchema, value, 'validation_failed');
  const handle = () =>
    acting.run(`key:${caller.keyId}`, () => operation.handle({ caller, parameters, query, body }));
  if (!operation.idempotent || ctx.headers['idempotency-key'] === undefined) return handle();
  const request = {
    key: ctx.get('Idempotency-Key'),
    accountId: caller.accountId,
    sent: `${operation.id}\n${text}`,
  };
  return answerOnce(idempotencyKeys, request, clock.now(), handle);
};
