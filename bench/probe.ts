import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Requests a URL at a steady rate for the given time or until it is stopped, then prints the waiting times as JSON. */
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
// The first request opens the connection.
await ask();
times.length = 0;
for (let at = begin; at < begin + Number(milliseconds); at += Number(everyMs)) {
  if (told.signal.aborted) break;
  await delay(Math.max(0, at - performance.now()));
  // Not awaited, so that a slow answer does not delay the next requests, as with independent clients.
  all.push(ask());
}
await Promise.all(all);
agent.destroy();
times.sort((a, b) => a - b);
const at = (share: number): number | undefined => times[Math.floor(share * (times.length - 1))];
process.stdout.write(JSON.stringify({ median: at(0.5), p99: at(0.99), longest: at(1) }));
