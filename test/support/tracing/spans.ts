import { WireMessage } from './wire-message.ts';

type Value = string | number | boolean;

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty at the root of a trace. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'consumer' | undefined;
  readonly ms: number;
  readonly facts: Readonly<Record<string, Value>>;
  readonly isError: boolean;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** Of the process. */
  readonly resource: Readonly<Record<string, Value>>;
}

/** An `ExportTraceServiceRequest` of opentelemetry-proto 1.x. */
export const spansIn = (body: Buffer): readonly ReceivedSpan[] =>
  new WireMessage(body).messages(1).flatMap((ofResource) => {
    const resource = factsIn(ofResource.message(1)?.messages(1) ?? []);
    const spans = ofResource.messages(2).flatMap((ofScope) => ofScope.messages(2));
    return spans.map((span) => spanFrom(span, resource));
  });

const kinds = [undefined, 'internal', 'server', 'client', undefined, 'consumer'] as const;
const error = 2;

const spanFrom = (span: WireMessage, resource: ReceivedSpan['resource']): ReceivedSpan => ({
  traceId: span.hex(1),
  spanId: span.hex(2),
  parentId: span.hex(4),
  name: span.text(5),
  kind: kinds[span.number(6)],
  ms: (span.number(8) - span.number(7)) / 1e6,
  facts: factsIn(span.messages(9)),
  isError: span.message(15)?.number(3) === error,
  links: span.messages(13).map((link) => ({ traceId: link.hex(1), spanId: link.hex(2) })),
  resource,
});

const factsIn = (pairs: readonly WireMessage[]): Readonly<Record<string, Value>> =>
  Object.fromEntries(pairs.map((pair) => [pair.text(1), valueIn(pair.message(2))]));

const valueIn = (value: WireMessage | undefined): Value => {
  if (value?.has(1)) return value.text(1);
  return value?.has(2) ? value.number(2) === 1 : (value?.number(3) ?? 0);
};
