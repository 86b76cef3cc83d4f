import type { IdempotencyKeys } from '../../../access/ports.ts';
import type { Acting } from '../../../kernel/acting.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Deadline } from '../../../kernel/deadline.ts';
import type { Answer } from '../answers/answer.ts';
import type { Exchange } from './exchange.ts';
import type { Call, Operation } from './operation.ts';
import { parse, queryReader } from './parse.ts';
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

type Known = Omit<Call<unknown, unknown>, 'body'>;

/** The steps of every request, in order: authenticate, authorise, parse, answer. */
export const operationRoute = (operation: Operation, ports: RoutePorts): Route['answer'] => {
  const { baseUrl, clock } = ports;
  const removal = removalHeaders(operation, baseUrl);
  const readQuery = operation.query && queryReader(operation.query);
  return (exchange, parameters) => {
    exchange.operation = operation.id;
    exchange.add(removal);
    admit(exchange);
    const caller = callerOf(exchange);
    refuseRemoved(operation, baseUrl, clock.now());
    requireScope(caller, operation);
    requireJsonAccepted(exchange.request.headers);
    const known = { caller, parameters, query: readQuery?.(exchange.query) };
    return operation.body
      ? answerToBody(operation, exchange, known, ports)
      : operation.handle({ ...known, body: undefined });
  };
};

/** On every answer of a deprecated operation: since when (RFC 9745), until when (RFC 8594), what instead. */
const removalHeaders = (
  { deprecation }: Operation,
  baseUrl: string,
): Readonly<Record<string, string>> => {
  if (!deprecation) return {};
  const { since, sunset, successor } = deprecation;
  return {
    Deprecation: `@${String(Math.floor(since.getTime() / 1000))}`,
    Sunset: sunset.toUTCString(),
    Link: `<${baseUrl}${successor}>; rel="successor-version"`,
  };
};

const answerToBody = async (
  operation: Operation,
  { request }: Exchange,
  known: Known,
  { idempotencyKeys, acting, clock, deadline }: RoutePorts,
): Promise<Answer> => {
  // The time to receive the body does not count against the request's deadline.
  const { text, value } = await deadline.apart(() => readJsonBody(request));
  const body = operation.body && parse(operation.body, value, 'validation_failed');
  const { keyId, accountId } = known.caller;
  const handle = () => acting.run(`key:${keyId}`, () => operation.handle({ ...known, body }));
  const key = request.headers['idempotency-key'];
  if (!operation.idempotent || key === undefined) return handle();
  const once = { key: String(key), accountId, sent: `${operation.id}\n${text}` };
  return answerOnce(idempotencyKeys, once, clock.now(), handle);
};
