import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { until } from '../until.ts';
import { findFreePort, startGuard } from './debian-server.ts';
import { findPrometheus } from './promtool.ts';

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, value: string];
}

/** A real Prometheus that asks its targets every second. */
export interface Prometheus {
  /** What an expression gives now. */
  query(expression: string): Promise<readonly Sample[]>;
  stop(): Promise<void>;
}

/** @param targets as `host:port` @param rules a file of rules */
export const startPrometheus = async (
  targets: readonly string[],
  rules: string,
): Promise<Prometheus> => {
  const { prometheus } = await findPrometheus();
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
  const guard = startGuard(folder);
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'animal-store', static_configs: [{ targets }] }],
  };
  // JSON is YAML too.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const place = `127.0.0.1:${String(await findFreePort())}`;
  const child = spawn(prometheus, [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${place}`,
  ]);
  guard.write(`${String(child.pid ?? '')}\n`);
  const log = text(child.stderr);
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended:\n${await log}`);
    return fetch(`http://${place}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  await until('Prometheus is ready', isReady);
  return {
    query: async (expression) => {
      const body = new URLSearchParams({ query: expression });
      const answer = await fetch(`http://${place}/api/v1/query`, { method: 'POST', body });
      const told = (await answer.json()) as {
        readonly error?: string;
        readonly data?: { readonly result: readonly Sample[] };
      };
      if (!told.data) throw new Error(`${expression}: ${told.error ?? 'no answer'}`);
      return told.data.result;
    },
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      guard.end('\n');
    },
  };
};
