import { once } from 'node:events';
import { Agent, request, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

export interface Visited {
  readonly url: string;
  readonly options: RequestOptions & { readonly ca?: string; readonly servername?: string };
}

/** Long enough for a connection to become idle, and short enough to be idle only for a moment. */
const pauseMs = 5;

/** Visits over persistent and new connections, without retries. */
export class Visits {
  readonly failures: string[] = [];
  answered = 0;
  #isOver = false;
  readonly #loops: Promise<void>[] = [];
  readonly #agents: (Agent | SecureAgent)[] = [];

  start({ url, options }: Visited, visitors: number): void {
    const isSecure = url.startsWith('https:');
    const ask = isSecure ? secureRequest : request;
    for (let at = 0; at < visitors; at++) {
      const keepAlive = at % 3 > 0;
      const agent = isSecure ? new SecureAgent({ keepAlive }) : new Agent({ keepAlive });
      this.#agents.push(agent);
      this.#loops.push(this.#loop(() => ask(url, { ...options, agent })));
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
    for (const agent of this.#agents) agent.destroy();
  }

  async #loop(ask: () => ReturnType<typeof request>): Promise<void> {
    while (!this.#isOver) {
      try {
        const asked = ask().end();
        const [answer] = (await once(asked, 'response')) as [IncomingMessage];
        await text(answer);
        if (answer.statusCode === 200) this.answered += 1;
        else this.failures.push(String(answer.statusCode));
      } catch (error) {
        this.failures.push(String(error));
      }
      await delay(pauseMs);
    }
  }
}
