/**
 * A separate process that checks the health of a service, so that other work of the test is not
 * measured: `node health-prober.ts ORIGIN PID EVERY_MS`. Prints a `Probe` as a line of JSON for each answer.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import type { Probe } from './health-watch.ts';

/**
 * How long the main thread of a process ran, and how long it was ready to run while the machine ran others: the first
 * two numbers of schedstat (Documentation/scheduler/sched-stats.rst of Linux).
 */
const mainThreadOf = (pid: string): { readonly ranMs: number; readonly heldUpMs: number } => {
  const [ran, heldUp] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return { ranMs: Number(ran) / 1e6, heldUpMs: Number(heldUp) / 1e6 };
};

/** @returns 0 when there is no answer */
const ask = (url: string): Promise<number> =>
  new Promise((resolve) => {
    get(url, { agent: false }, (answer) => {
      answer.resume().once('close', () => {
        resolve(answer.statusCode ?? 0);
      });
    }).once('error', () => {
      resolve(0);
    });
  });

const timed = async <T>(work: Promise<T>): Promise<{ result: T; tookMs: number }> => {
  const started = performance.now();
  const result = await work;
  return { result, tookMs: performance.now() - started };
};

/** An idle server: its delay is the delay of the machine. */
const serveNothing = (): void => {
  const server = createServer((_, response) => response.end());
  server.listen(0, '127.0.0.1', () => {
    parentPort?.postMessage((server.address() as AddressInfo).port);
  });
};

const probe = async (origin: string, pid: string, idle: string): Promise<Probe> => {
  const [at, before] = [Date.now(), mainThreadOf(pid)];
  const service = timed(ask(`${origin}/healthz`));
  const over = service.then(() => true);
  // Repeated while the service takes its time, so that both see the same machine.
  let machineMs = 0;
  for (let isOver = false; !isOver; isOver = await Promise.race([over, setTimeout(5, false)])) {
    machineMs = Math.max(machineMs, (await timed(ask(idle))).tookMs);
  }
  const { result: status, tookMs } = await service;
  const after = mainThreadOf(pid);
  const stillMs = Math.max(0, tookMs - machineMs - (after.heldUpMs - before.heldUpMs));
  const ownMs = Math.min(stillMs, after.ranMs - before.ranMs);
  return { at, status, tookMs, ownMs, stillMs };
};

const probeForEver = async (): Promise<never> => {
  const [, , origin = '', pid = '', everyMs = ''] = process.argv;
  // The end of the input means that the parent process is gone.
  process.stdin.resume().once('end', () => process.exit(0));
  const [port] = (await once(new Worker(new URL(import.meta.url)), 'message')) as [number];
  for (;;) {
    const one = await probe(origin, pid, `http://127.0.0.1:${port}/`);
    process.stdout.write(`${JSON.stringify(one)}\n`);
    await setTimeout(Number(everyMs));
  }
};

if (isMainThread) await probeForEver();
else serveNothing();
