import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Asks for an address a hundred times a second for so many milliseconds; prints how long the answers took, as JSON. */
const [url = '', milliseconds = ''] = process.argv.slice(2);

const everyMs = 10;
const agent = new Agent({ keepAlive: true });
const times: number[] = [];

const ask = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const begin = performance.now();
    get(url, { agent }, (answer) => {
      times.push(performance.now() - begin);
      answer.resume().once('end', () => {
        if (answer.statusCode === 200) resolve();
        else reject(new Error(String(answer.statusCode)));
      });
    }).once('error', reject);
  });

const all: Promise<void>[] = [];
const begin = performance.now();
// The first one opens the connection.
await ask();
times.length = 0;
for (let at = begin; at < begin + Number(milliseconds); at += everyMs) {
  await delay(Math.max(0, at - performance.now()));
  // Not awaited: while one waits, the next ones do so too, as those of other clients would.
  all.push(ask());
}
await Promise.all(all);
agent.destroy();
times.sort((a, b) => a - b);
const at = (share: number): number | undefined => times[Math.floor(share * (times.length - 1))];
process.stdout.write(JSON.stringify({ median: at(0.5), p99: at(0.99), longest: at(1) }));
