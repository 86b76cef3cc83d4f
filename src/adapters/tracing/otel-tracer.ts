import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
  type Context,
  type Link,
  type Span as OtelSpan,
  type SpanContext,
  type Tracer as Otel,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { LRUCache } from 'lru-cache';
import {
  Tracer,
  type Beginning,
  type Span,
  type Step,
  type StepFacts,
} from '../../kernel/tracer.ts';

const rememberedEvents = 10_000;

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const satisfies Record<Step['kind'], SpanKind>;

export class OtelTracer extends Tracer {
  readonly #otel: Otel;
  readonly #close: () => Promise<void>;
  readonly #current = new AsyncLocalStorage<Context | undefined>();
  readonly #causes = new LRUCache<string, SpanContext>({ max: rememberedEvents });

  constructor(otel: Otel, close: () => Promise<void>) {
    super();
    this.#otel = otel;
    this.#close = close;
  }

  override get traceId(): string | undefined {
    return this.#spanContext?.traceId;
  }

  override get isRecording(): boolean {
    const context = this.#current.getStore();
    return context !== undefined && trace.getSpan(context)?.isRecording() === true;
  }

  override begin<T>(beginning: Beginning, work: (span: Span) => Promise<T>): Promise<T> {
    const { continues, causedBy } = beginning;
    const cause = causedBy === undefined ? undefined : this.#causes.get(causedBy);
    return this.#run(
      beginning,
      { from: contextOf(continues), links: cause && [{ context: cause }] },
      work,
    );
  }

  override step<T>(step: Step, work: (span: Span) => Promise<T>): Promise<T> {
    const from = this.#current.getStore();
    // Ended spans get no children: timers and listeners outlive the span that created them.
    if (!from || !trace.getSpan(from)?.isRecording()) return work(silent);
    return this.#run(step, { from }, work);
  }

  override apart<T>(work: () => T): T {
    return this.#current.run(undefined, work);
  }

  override stores(eventId: string): void {
    const context = this.#spanContext;
    if (context && (context.traceFlags & TraceFlags.SAMPLED) !== 0)
      this.#causes.set(eventId, context);
  }

  override close(): Promise<void> {
    return this.#close();
  }

  get #spanContext(): SpanContext | undefined {
    const context = this.#current.getStore();
    return context && trace.getSpanContext(context);
  }

  async #run<T>(
    { name, kind, facts }: Step,
    { from, links = [] }: { readonly from: Context; readonly links?: Link[] | undefined },
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const options = { kind: kinds[kind], attributes: { ...facts }, links };
    const span = this.#otel.startSpan(name, options, from);
    const shown = new RecordedSpan(span);
    try {
      return await this.#current.run(trace.setSpan(from, span), () => work(shown));
    } catch (error) {
      shown.fail(typeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }
}

/** Ignores `tracestate` and baggage, which callers control. */
const contextOf = (traceparent: string | undefined): Context => {
  const caller = traceparent === undefined ? null : parseTraceParent(traceparent);
  return caller ? trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true }) : ROOT_CONTEXT;
};

class RecordedSpan implements Span {
  readonly #span: OtelSpan;

  constructor(span: OtelSpan) {
    this.#span = span;
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  tell(facts: StepFacts): void {
    this.#span.setAttributes({ ...facts });
  }

  fail(type: string): void {
    this.#span.setAttribute('error.type', type);
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }
}

const silent: Span = {
  rename: () => undefined,
  tell: () => undefined,
  fail: () => undefined,
};

/** Returns only the code or name of an error, because its message may contain anything. */
const typeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && isWord(code) ? code : error.name;
};

const isWord = (text: string): boolean => /^\w{1,64}$/.test(text);
