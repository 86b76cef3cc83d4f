import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../until.ts';

/** A message of Protocol Buffers: the values of each field by number, in order. */
class WireMessage {
  readonly #fields = new Map<number, (bigint | Buffer)[]>();

  /** @throws RangeError if the message ends too early */
  constructor(bytes: Buffer) {
    const reader = { bytes, at: 0 };
    while (reader.at < bytes.length) {
      const tag = Number(varint(reader));
      const values = this.#fields.get(tag >>> 3) ?? [];
      values.push(valueOf(tag & 7, reader));
      this.#fields.set(tag >>> 3, values);
    }
  }

  messages(field: number): readonly WireMessage[] {
    return this.#all(field).map((value) => new WireMessage(value as Buffer));
  }

  message(field: number): WireMessage | undefined {
    return this.messages(field)[0];
  }

  text(field: number): string {
    return (this.bytes(field) ?? '').toString();
  }

  hex(field: number): string {
    return this.bytes(field)?.toString('hex') ?? '';
  }

  number(field: number): number {
    return Number(this.#all(field)[0] ?? 0n);
  }

  has(field: number): boolean {
    return this.#fields.has(field);
  }

  bytes(field: number): Buffer | undefined {
    return this.#all(field)[0] as Buffer | undefined;
  }

  #all(field: number): readonly (bigint | Buffer)[] {
    return this.#fields.get(field) ?? [];
  }
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

const valueOf = (type: number, reader: Reader): bigint | Buffer => {
  switch (type) {
    case 0:
      return varint(reader);
    case 1:
      return take(reader, 8).readBigUInt64LE();
    case 2:
      return take(reader, Number(varint(reader)));
    case 5:
      return BigInt(take(reader, 4).readUInt32LE());
    default:
      throw new Error(`wire type ${type} is not expected`);
  }
};

const take = (reader: Reader, length: number): Buffer => {
  const { bytes, at } = reader;
  if (at + length > bytes.length) throw new RangeError('the message ends too early');
  reader.at += length;
  return bytes.subarray(at, at + length);
};

const varint = (reader: Reader): bigint => {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = take(reader, 1).readUInt8();
    value |= BigInt(byte & 0x7f) << shift;
    if ((byte & 0x80) === 0) return value;
  }
};

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
  readonly resource: Readonly<Record<string, Value>>;
}

/** An `ExportTraceServiceRequest` of opentelemetry-proto 1.x. */
const spansIn = (body: Buffer): readonly ReceivedSpan[] =>
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

/** `silent`: accepts everything and never answers. `failing`: refuses everything, with a long page. */
type Mood = 'well' | 'silent' | 'failing';

/** Receives traces over OTLP/HTTP with protobuf, like a collector. */
export class OtlpReceiver {
  readonly #server: Server;
  readonly #bodies: Buffer[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  mood: Mood = 'well';
  readonly url: string;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.headers.push(request.headers);
        this.#bodies.push(Buffer.concat(chunks));
        if (this.mood === 'silent') return;
        if (this.mood === 'well' && request.url === '/v1/traces') response.end();
        else response.writeHead(500).end('no '.repeat(50_000));
      });
    });
  }

  static async start(port = 0): Promise<OtlpReceiver> {
    const server = createServer();
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return new OtlpReceiver(server);
  }

  get settings(): Readonly<Record<string, string>> {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: this.url };
  }

  get spans(): readonly ReceivedSpan[] {
    return this.#bodies.flatMap(spansIn);
  }

  /** Everything received, as one searchable text. */
  get everything(): string {
    return Buffer.concat([...this.#bodies, Buffer.from(JSON.stringify(this.spans))]).toString(
      'latin1',
    );
  }

  /** Waits for the first such span. */
  async span(what: string, isIt: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
    const found = await until(`a span of ${what}`, () => Promise.resolve(this.spans.find(isIt)));
    return found;
  }

  /** The direct children of a span. */
  below({ spanId, traceId }: ReceivedSpan): readonly ReceivedSpan[] {
    return this.spans.filter((one) => one.traceId === traceId && one.parentId === spanId);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
