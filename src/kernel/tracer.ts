import { shownPath } from './text.ts';

/**
 * All that a trace may say of a step, by the names of OpenTelemetry's semantic conventions or, with `animal_store.`, of
 * ours. What outsiders write freely has no name here: queries, bodies, headers, addresses of mail, messages of errors.
 */
export interface StepFacts {
  readonly 'http.request.method'?: string;
  /** The pattern of the path, `/v1/pets/{petId}`. */
  readonly 'http.route'?: string;
  readonly 'http.response.status_code'?: number;
  /** Safe to log; see `shownPath`. */
  readonly 'url.path'?: string;
  readonly 'url.scheme'?: 'http' | 'https';
  readonly 'network.protocol.version'?: string;
  readonly 'server.address'?: string;
  readonly 'server.port'?: number;
  readonly 'db.system.name'?: 'sqlite' | 'mysql' | 'redis';
  readonly 'db.namespace'?: string;
  readonly 'db.operation.name'?: string;
  readonly 'db.collection.name'?: string;
  /** With placeholders for its values. */
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
  /** One of few: no ids, no names of customers. */
  readonly name: string;
  readonly kind: 'server' | 'client' | 'consumer' | 'internal';
  readonly facts: StepFacts;
}

/** What begins by itself: a request, a delivery, work on a domain, a job. */
export interface Beginning extends Step {
  /** `traceparent` as a caller sent it. Its trace goes on; whether it is recorded is our decision. */
  readonly continues?: string | undefined;
  /** Id of the event that led to this. If this process stored it, this is linked to what stored it. */
  readonly causedBy?: string;
}

/** A step while it runs. */
export interface Span {
  rename(name: string): void;
  tell(facts: StepFacts): void;
  /** @param type a word from a short list, never a message */
  fail(type: string): void;
}

/** Records where time goes. Recording never waits for anybody, and never makes a step fail. */
export abstract class Tracer {
  /** Of what is running now; 32 hexadecimal digits. */
  abstract readonly traceId: string | undefined;

  /** Whether a step would be recorded now. Who asks first need not describe it in vain. */
  abstract readonly isRecording: boolean;

  /** Runs what begins by itself. Steps inside of `work` belong to it until `work` settles. */
  abstract begin<T>(beginning: Beginning, work: (span: Span) => Promise<T>): Promise<T>;

  /** Runs a step of what has begun; outside of that, and where it is not recorded, only runs `work`. */
  abstract step<T>(step: Step, work: (span: Span) => Promise<T>): Promise<T>;

  /** Runs work that belongs to nothing that has begun. */
  abstract apart<T>(work: () => T): T;

  /** What is running now stores this event. */
  abstract stores(eventId: string): void;

  /** Sends what is recorded, if that can be done soon. */
  abstract close(): Promise<void>;
}

/** What a trace says of one call of a port. */
interface TracedCall<Answer> extends Step {
  /** Adds what is known only afterwards. */
  readonly answered?: (span: Span, answer: Answer) => void;
}

/** Describes the calls of a port that are steps, by the names of its methods. */
export type TracedCalls<Port> = {
  readonly [Name in keyof Port]?: Port[Name] extends (...args: infer Args) => Promise<infer Answer>
    ? (...args: Args) => TracedCall<Answer>
    : never;
};

type Method = (...args: unknown[]) => Promise<unknown>;
type Describe = (...args: unknown[]) => TracedCall<unknown>;

/** The same port; each call that is described is a step of what is running. */
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

/** The method of a request as a trace shows it: few words, whatever outsiders send. */
const shownMethod = (method: string): string => (knownMethods.includes(method) ? method : '_OTHER');

/** The name of a request's span, as OpenTelemetry's semantic conventions want it. */
export const requestName = ({ method = '' }: Pick<Request, 'method'>, place?: string): string => {
  const name = knownMethods.includes(method) ? method : 'HTTP';
  return place === undefined ? name : `${name} ${place}`;
};

/**
 * A request begins a trace, or continues its caller's. Of its address only the path is told, as the log shows it: outsiders
 * write the host freely, and a query may hold anything.
 */
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

/** @param isLeft whether the client went away before the answer was complete */
export const tellAnswer = (span: Span, statusCode: number, isLeft: boolean): void => {
  span.tell({ 'http.response.status_code': statusCode });
  if (statusCode >= 500) span.fail(String(statusCode));
  else if (isLeft) span.fail('client_disconnected');
};
