import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Asks for an address at a steady rate, for so long or until it is told to stop; prints how long the answers took, as JSON. */
const [url = '', everyMs = '', milliseconds = '', key = ''] = process.argv.slice(2);

const headers = key === '' ? {} : { Authorization: `Bearer ${key}` };
const agent = new Agent({ keepAlive: true });
const times: number[] = [];

const ask = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const begin = performance.now();
    get(url, { agent, headers }, (answer) => {
      times.push(performance.now() - begin);
      answer.resume().once('end', () => {
        if (answer.statusCode === 200) resolve();
        else reject(new Error(String(answer.statusCode)));
      });
    }).once('error', reject);
  });

const all: Promise<void>[] = [];
const told = new AbortController();
process.once('SIGTERM', () => {
  told.abort();
});
const begin = performance.now();
// The first one opens the connection.
await ask();
times.length = 0;
for (let at = begin; at < begin + Number(milliseconds); at += Number(everyMs)) {
  if (told.signal.aborted) break;
  await delay(Math.max(0, at - performance.now()));
  // Not awaited: while one waits, the next ones do so too, as those of other clients would.
  all.push(ask());
}
await Promise.all(all);
agent.destroy();
times.sort((a, b) => a - b);
const at = (share: number): number | undefined => times[Math.floor(share * (times.length - 1))];
process.stdout.write(JSON.stringify({ median: at(0.5), p99: at(0.99), longest: at(1) }));
