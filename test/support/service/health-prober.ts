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

/** What `speed` compares: how much processor time this takes where `longestHealthMs` is judged. */
const knownWorkMs = 1.2;

const doKnownWork = (): number => {
  let sum = 0;
  for (let at = 0; at < 250_000; at++) sum = (sum * 31 + at) | 0;
  return sum;
};

/** How the machine did the known work so far: 1 is as quick as where the limit comes from, 0.5 half as quick. */
class MachineSpeed {
  #works = 0;
  #ranMs = 0;

  /** @param pauseMs before the work and after it: the kernel brings its counts up to date in pauses */
  async measure(pauseMs: number): Promise<void> {
    await setTimeout(pauseMs);
    const before = mainThreadOf('self').ranMs;
    doKnownWork();
    await setTimeout(pauseMs);
    this.#ranMs += mainThreadOf('self').ranMs - before;
    this.#works += 1;
  }

  now(): number {
    return (this.#works * knownWorkMs) / this.#ranMs;
  }
}

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

const probe = async (origin: string, pid: string, idle: string): Promise<Omit<Probe, 'workMs'>> => {
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
  const speed = new MachineSpeed();
  // The first times are slower: the code is not compiled yet.
  for (let warmUp = 0; warmUp < 20; warmUp++) doKnownWork();
  for (;;) {
    await speed.measure(Number(everyMs) / 2);
    const one = await probe(origin, pid, `http://127.0.0.1:${port}/`);
    process.stdout.write(`${JSON.stringify({ ...one, workMs: one.ownMs * speed.now() })}\n`);
  }
};

if (isMainThread) await probeForEver();
else serveNothing();
