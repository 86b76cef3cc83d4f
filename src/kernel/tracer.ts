import { shownPath } from './text.ts';

/**
 * The attributes of a step. Their names are OpenTelemetry's or our own (`animal_store.`). Values are never free text
 * from outside, such as queries or bodies.
 */
export interface StepFacts {
  readonly 'http.request.method'?: string;
  readonly 'http.route'?: string;
  readonly 'http.response.status_code'?: number;
  /** The path is safe to log; see `shownPath`. */
  readonly 'url.path'?: string;
  readonly 'url.scheme'?: 'http' | 'https';
  readonly 'network.protocol.version'?: string;
  readonly 'server.address'?: string;
  readonly 'server.port'?: number;
  readonly 'db.system.name'?: 'sqlite' | 'mysql' | 'redis';
  readonly 'db.namespace'?: string;
  readonly 'db.operation.name'?: string;
  readonly 'db.collection.name'?: string;
  readonly 'db.query.text'?: string;
  readonly 'db.stored_procedure.name'?: string;
  readonly 'rpc.system'?: 'aws-api';
  readonly 'rpc.service'?: 'S3';
  readonly 'rpc.method'?: string;
  readonly 'aws.s3.bucket'?: string;
  readonly 'dns.question.name'?: string;
  readonly 'messaging.system'?: 'animal_store';
  readonly 'messaging.operation.name'?: string;
  readonly 'messaging.operation.type'?: 'process';
  readonly 'messaging.destination.name'?: string;
  readonly 'messaging.destination.subscription.name'?: string;
  readonly 'messaging.message.id'?: string;
  readonly 'animal_store.request.id'?: string;
  readonly 'animal_store.account.id'?: string;
  readonly 'animal_store.domain.id'?: string;
  readonly 'animal_store.domain.host'?: string;
  readonly 'animal_store.domain.state'?: string;
  readonly 'animal_store.webhook.id'?: string;
  readonly 'animal_store.webhook.type'?: string;
  readonly 'animal_store.dns.question.type'?: string;
  readonly 'animal_store.dns.outcome'?: string;
  readonly 'animal_store.acme.step'?: string;
  readonly 'animal_store.acme.host'?: string;
  readonly 'animal_store.acme.outcome'?: string;
}

export interface Step {
  /** The name has low cardinality: no ids and no customers' names. */
  readonly name: string;
  readonly kind: 'server' | 'client' | 'consumer' | 'internal';
  readonly facts: StepFacts;
}

export interface Beginning extends Step {
  /** The caller's `traceparent`. We continue its trace, but decide ourselves whether to record. */
  readonly continues?: string | undefined;
  /** The id of the event that caused this. If this process stored it, the spans are linked. */
  readonly causedBy?: string;
}

export interface Span {
  rename(name: string): void;
  tell(facts: StepFacts): void;
  /** @param type a word from a short list, never a message */
  fail(type: string): void;
}

/** Records spans. Recording never waits and never makes a step fail. */
export abstract class Tracer {
  /** The current trace: 32 hexadecimal digits. */
  abstract readonly traceId: string | undefined;

  /** Whether a step would be recorded now. If not, callers can skip an expensive description. */
  abstract readonly isRecording: boolean;

  abstract begin<T>(beginning: Beginning, work: (span: Span) => Promise<T>): Promise<T>;

  abstract step<T>(step: Step, work: (span: Span) => Promise<T>): Promise<T>;

  abstract apart<T>(work: () => T): T;

  /** Links later deliveries of this event to the current span. */
  abstract stores(eventId: string): void;

  abstract close(): Promise<void>;
}

interface TracedCall<Answer> extends Step {
  readonly answered?: (span: Span, answer: Answer) => void;
}

export type TracedCalls<Port> = {
  readonly [Name in keyof Port]?: Port[Name] extends (...args: infer Args) => Promise<infer Answer>
    ? (...args: Args) => TracedCall<Answer>
    : never;
};

type Method = (...args: unknown[]) => Promise<unknown>;
type Describe = (...args: unknown[]) => TracedCall<unknown>;

/** Wraps a port so that each described call becomes a step. */
export const traced = <Port extends object>(
  port: Port,
  tracer: Tracer,
  calls: TracedCalls<Port>,
): Port =>
  new Proxy(port, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as Method;
      const describe = (calls as Record<PropertyKey, Describe | undefined>)[name];
      return describe ? tracedMethod(method, tracer, describe) : method;
    },
  });

const tracedMethod =
  (method: Method, tracer: Tracer, describe: Describe): Method =>
  (...args) => {
    if (!tracer.isRecording) return method(...args);
    const { answered, ...step } = describe(...args);
    return tracer.step(step, async (span) => {
      const answer = await method(...args);
      answered?.(span, answer);
      return answer;
    });
  };

interface Request {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly httpVersion: string;
}

const knownMethods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PATCH',
  'TRACE',
  'CONNECT',
];

/** Replaces unknown methods, because clients choose them freely. */
const shownMethod = (method: string): string => (knownMethods.includes(method) ? method : '_OTHER');

/** Names a request by OpenTelemetry's semantic conventions. */
export const requestName = ({ method = '' }: Pick<Request, 'method'>, place?: string): string => {
  const name = knownMethods.includes(method) ? method : 'HTTP';
  return place === undefined ? name : `${name} ${place}`;
};

/** Starts a trace for a request, or continues its caller's. Omits host and query, because clients control them. */
export const requestBeginning = (
  request: Request,
  scheme: 'http' | 'https',
  path: string,
): Omit<Beginning, 'name'> => ({
  kind: 'server',
  facts: {
    'http.request.method': shownMethod(request.method ?? ''),
    'url.path': shownPath(path),
    'url.scheme': scheme,
    'network.protocol.version': request.httpVersion,
  },
  continues: request.headers['traceparent'] as string | undefined,
});

/** Records the answer. @param isLeft whether the client disconnected before the answer was complete */
export const tellAnswer = (span: Span, statusCode: number, isLeft: boolean): void => {
  span.tell({ 'http.response.status_code': statusCode });
  if (statusCode >= 500) span.fail(String(statusCode));
  else if (isLeft) span.fail('client_disconnected');
};
