import { unanswered, type DashboardVisitor } from './visitor.ts';
import { until } from '../until.ts';

export interface PageEvent {
  readonly event: string;
  readonly data: string;
}

/** Live updates of one page, as a browser gets them (HTML standard, section 9.2). */
export class DashboardStream {
  readonly status: number;
  readonly headers: Headers;
  readonly events: PageEvent[] = [];
  #isOver = false;
  readonly #abort: AbortController;

  private constructor(response: Response, abort: AbortController) {
    this.status = response.status;
    this.headers = response.headers;
    this.#abort = abort;
    void this.#read(response).catch(() => undefined);
  }

  static async open(visitor: DashboardVisitor, path: string): Promise<DashboardStream> {
    const abort = new AbortController();
    const headers = { Accept: 'text/event-stream', Cookie: visitor.cookie ?? '' };
    const { signal } = abort;
    const url = visitor.origin + path;
    const response = await fetch(url, { headers, signal, redirect: 'manual' }).catch(
      (error: unknown) => {
        throw unanswered(`the stream of ${path}`, error);
      },
    );
    return new DashboardStream(response, abort);
  }

  async shows(text: string): Promise<void> {
    await until(`the page shows "${text}"`, () =>
      this.events.some(({ event, data }) => event === 'page' && data.includes(text)),
    );
  }

  async ends(): Promise<void> {
    await until('the stream is over', () => this.#isOver);
  }

  close(): void {
    this.#abort.abort();
  }

  async #read({ body }: Response): Promise<void> {
    let text = '';
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      const parts = (text + chunk).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) this.#take(part);
    }
    this.#isOver = true;
  }

  #take(part: string): void {
    const fields = new Map(
      part.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]),
    );
    const event = fields.get('event');
    if (event !== undefined) this.events.push({ event, data: fields.get('data') ?? '' });
  }
}
