import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../until.ts';
import { spansIn, type ReceivedSpan } from './spans.ts';

/** `silent`: takes everything and answers nothing. `failing`: refuses everything, with a long page. */
type Mood = 'well' | 'silent' | 'failing';

/** Takes traces over OTLP/HTTP with protobuf, as a collector does. */
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

  /** Everything that came, as one text to search. */
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

  /** Those directly below it. */
  below({ spanId, traceId }: ReceivedSpan): readonly ReceivedSpan[] {
    return this.spans.filter((one) => one.traceId === traceId && one.parentId === spanId);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
