/**
 * A separate process that checks the health of a service, so that other work of the test is not measured: `node
 * health-prober.ts ORIGIN PID EVERY_MS`. Prints a `Probe` as a line of JSON for each answer.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import type { Probe } from './health-watch.ts';

/**
 * How long the main thread ran, and how long it was ready while others ran: the first two numbers of schedstat
 * (Documentation/scheduler/sched-stats.rst of Linux).
 */
const mainThreadOf = (pid: string): { readonly ranMs: number; readonly heldUpMs: number } => {
  const [ran, heldUp] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return { ranMs: Number(ran) / 1e6, heldUpMs: Number(heldUp) / 1e6 };
};

/** @returns 0 if there is no answer */
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

/**
 * The processor time of the reference work on the machine where `longestHealthMs` was chosen. `speed`
 * compares with it.
 */
const knownWorkMs = 1.2;

const doKnownWork = (): number => {
  let sum = 0;
  for (let at = 0; at < 250_000; at++) sum = (sum * 31 + at) | 0;
  return sum;
};

/** The machine's speed at the reference work so far: 1 is the speed behind the limit, 0.5 is half of it. */
class MachineSpeed {
  #works = 0;
  #ranMs = 0;

  /** @param pauseMs before and after the work, because the kernel updates its counts only in pauses */
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

/** An idle server, whose delay is the machine's delay. */
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
  // Repeated while the service is slow, so that both run on an equally busy machine.
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
  // The first runs are slower, because the code is not compiled yet.
  for (let warmUp = 0; warmUp < 20; warmUp++) doKnownWork();
  for (;;) {
    await speed.measure(Number(everyMs) / 2);
    const one = await probe(origin, pid, `http://127.0.0.1:${port}/`);
    process.stdout.write(`${JSON.stringify({ ...one, workMs: one.ownMs * speed.now() })}\n`);
  }
};

if (isMainThread) await probeForEver();
else serveNothing();
