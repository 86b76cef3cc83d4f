import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { findServer } from '../servers/debian-server.ts';
import { measures } from '../../../src/adapters/http/metrics/measures.ts';

export const findPrometheus = async (): Promise<{ prometheus: string; promtool: string }> => {
  const { executable } = await findServer('prometheus', ['prometheus']);
  return { prometheus: executable, promtool: join(executable, '../promtool') };
};

export const promtool = async (
  args: readonly string[],
  input = '',
): Promise<{ readonly code: number; readonly output: string }> => {
  const program = await findPrometheus();
  const child = spawn(program.promtool, args);
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('close', (code) => {
      resolve(code ?? 1);
    });
  });
  child.stdin.end(input);
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, output: out + err };
};

const root = join(import.meta.dirname, '../../..');

export const rulesFile = join(root, 'ops/prometheus/alerts.yaml');
export const ruleTestsFile = join(root, 'ops/prometheus/alerts.test.yaml');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const readYaml = (path: string): unknown => parse(readFileSync(path, 'utf8'));

export const alertRules = (): readonly Rule[] => {
  const { groups } = readYaml(rulesFile) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
};

export const ruleTests = (): readonly string[] =>
  (readYaml(ruleTestsFile) as { readonly tests: readonly { readonly name: string }[] }).tests.map(
    ({ name }) => name,
  );

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

/** The queries of the dashboard, with the titles of their panels. */
export const dashboardQueries = (): readonly {
  readonly title: string;
  readonly expr: string;
}[] => {
  const file = readFileSync(join(root, 'ops/grafana/animal-store.json'), 'utf8');
  const { panels } = JSON.parse(file) as { readonly panels: readonly Panel[] };
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
};

/** Words of PromQL, as far as they are used here. */
const words = new Set([
  ...['by', 'on', 'or', 'and', 'unless', 'without', 'ignoring', 'group_left', 'bool'],
  ...['sum', 'max', 'min', 'count', 'avg', 'rate', 'increase', 'absent', 'time', 'topk'],
  ...[
    'histogram_quantile',
    'clamp_min',
    'min_over_time',
    'max_over_time',
    'vector',
    'le',
    'label_replace',
  ],
]);

/** Names of metrics in an expression, without the suffixes of histograms. */
export const namesIn = (expression: string): readonly string[] => {
  const bare = expression
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replace(/\b(?:by|on|without|ignoring|group_left) *\([^)]*\)/g, '');
  const names = [...bare.matchAll(/[a-z_][a-z0-9_]*/gi)].map(([name]) => name);
  return names.filter((name) => !words.has(name)).map((name) => nameOfHistogram(name) ?? name);
};

const nameOfHistogram = (name: string): string | undefined => {
  const [, base = ''] = /^(.*)_(?:bucket|count|sum)$/.exec(name) ?? [];
  return Object.hasOwn(measures, base) ? base : undefined;
};
