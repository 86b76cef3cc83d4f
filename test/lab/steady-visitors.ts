import { Resolver } from 'node:dns/promises';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';

export interface Destination {
  readonly host: string;
  readonly port: number;
  /** As `ip:port`. */
  readonly resolver: string;
  /** PEM, those that the visitors trust. */
  readonly roots: readonly string[];
}

/** New visitors of one host again and again: each looks its address up, connects, and reads the page. */
export class SteadyVisitors {
  readonly #to: Destination;
  readonly #resolver = new Resolver({ timeout: 5_000, tries: 2 });
  readonly #timer: NodeJS.Timeout;
  readonly #underWay = new Set<Promise<void>>();
  readonly #pages: string[] = [];

  constructor(to: Destination, everyMs: number) {
    this.#to = to;
    this.#resolver.setServers([to.resolver]);
    this.#timer = setInterval(() => {
      this.#come();
    }, everyMs);
  }

  /** What each got, in the order in which they came: a page, or what went wrong. */
  get pages(): readonly string[] {
    return this.#pages;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
  }

  #come(): void {
    const place = this.#pages.push('on the way') - 1;
    const visit = this.#visit().then(
      (page) => void (this.#pages[place] = page),
      (error: unknown) => void (this.#pages[place] = String(error)),
    );
    this.#underWay.add(visit);
    void visit.finally(() => this.#underWay.delete(visit));
  }

  async #visit(): Promise<string> {
    const { host, port, roots } = this.#to;
    const [address = ''] = await this.#resolver.resolve4(host);
    const options = { servername: host, ca: [...roots], agent: false, headers: { host } };
    return new Promise((resolve, reject) => {
      request({ ...options, host: address, port }, (answer) => {
        text(answer).then((page) => {
          resolve(answer.statusCode === 200 ? page : `status ${String(answer.statusCode)}`);
        }, reject);
      })
        .on('error', reject)
        .end();
    });
  }
}
