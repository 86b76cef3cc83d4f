import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { globSync } from 'node:fs';
import {
  insideRules,
  ourRules,
  patternRules,
  testRules,
  timedTests,
  wiringRules,
} from '../../oxlint.config.ts';
import { plantTree, type PlantedTree } from '../support/planted-tree.ts';

const pluginFile = '../../lint-rules.js';
const { forbiddenSyntax, timedSyntax } = (await import(pluginFile)) as Readonly<
  Record<'forbiddenSyntax' | 'timedSyntax', Readonly<Record<string, string>>>
>;

const compare = 'export const same = (a: unknown, b: unknown) => a == b;';

/** For each rule that applies everywhere, code that violates only that rule. */
const everywhere: Readonly<Record<string, readonly string[]>> = {
  eqeqeq: [compare],
  'local/explained-suppression': [
    `// eslint-disable-next-line eqeqeq\n${compare}`,
    `/* eslint-disable */\n${compare}`,
    `${compare} // eslint-disable-line -- why`,
    `/* oxlint-disable */\n${compare}`,
    `/* eslint eqeqeq: off */\nexport {};`,
  ],
  'local/plain-literals': [
    'export const point = (x: number, y: number) => ({ ...{ x, y }, z: 0 });',
  ],
  'no-nested-ternary': ["export const sign = (n: number) => (n < 0 ? '-' : n > 0 ? '+' : '');"],
  'typescript/ban-ts-comment': [
    `// @ts-expect-error\nexport const text: string = 1;`,
    `// @ts-ignore: has to stay, whatever it is\nexport const text = '';`,
  ],
  'typescript/consistent-type-exports': [`export { Clock } from './clock.ts';`],
  'typescript/consistent-type-imports': [
    `import { Clock } from './clock.ts';\nexport const now = (clock: Clock) => clock.now();`,
  ],
  'typescript/no-explicit-any': [`export const same = (value: any): unknown => value;`],
  'typescript/no-floating-promises': [
    `export const forget = (work: () => Promise<void>): void => {\n  work();\n};`,
  ],
  'typescript/no-import-type-side-effects': [
    `import { type Clock } from './clock.ts';\nexport const now = (clock: Clock) => clock.now();`,
  ],
  'typescript/no-misused-spread': [
    `export const copy = (map: Map<string, string>) => ({ ...map });`,
  ],
  'no-unused-vars': [`const forgotten = 1;\nexport {};`],
  'typescript/restrict-template-expressions': [
    'export const show = (value: boolean) => `${value}`;',
  ],
  'typescript/switch-exhaustiveness-check': [
    `export const f = (a: 1 | 2) => {\n  switch (a) {\n    case 1:\n      return 3;\n  }\n  return 4;\n};`,
    `export const f = (a: 1 | 2) => {\n  switch (a) {\n    case 1:\n      return 3;\n    default:\n      return 4;\n  }\n};`,
  ],
};

const patterns: Readonly<Record<string, readonly string[]>> = {
  'regexp/no-super-linear-backtracking': [
    'export const isPair = (text: string) => /^[ab]+,?[ab]+$/.test(text);',
    'export const read = (text: string) => /^[ \\t]*([!-~]*)[ \\t]*$/.exec(text);',
  ],
  'regexp/no-super-linear-move': [
    "export const trim = (text: string) => text.replace(/\\/+$/, '');",
    "export const trim = (text: string) => text.replace(/^[ \\t]*|[ \\t]*$/g, '');",
  ],
  'regexp/no-contradiction-with-assertion': [
    'export const never = (text: string) => /a\\b(?:a|-)/.test(text);',
  ],
  'regexp/no-dupe-disjunctions': [
    'export const twice = (text: string) => /^(?:a|b|a)$/.test(text);',
  ],
  'regexp/no-useless-lazy': ['export const one = (text: string) => /^a{3}?b/.test(text);'],
  'regexp/optimal-quantifier-concatenation': [
    'export const words = (text: string) => /^\\w+\\w{3}$/.test(text);',
  ],
};

const lookups =
  'export interface Lookups {\n  get(name: string): () => number;\n  unbindAllAsync(): Promise<void>;\n}';
const withLookups = (code: string) => `import type { Lookups } from './lookups.ts';\n${code}`;

const wirings: Readonly<Record<string, readonly string[]>> = {
  'local/late-lookups': [
    withLookups(`export const late = (c: Lookups) => () => c.get('clock')();`),
    withLookups(
      `const now = (c: Lookups) => c.get('clock')();\nexport const passed = (c: Lookups) => () => now(c);`,
    ),
    withLookups(
      `export const stopping = (container: Lookups) => ({ stop: () => container.get('jobs')() });`,
    ),
  ],
};

const inside: Readonly<Record<string, string>> = {
  performance: `export const now = () => performance.now();`,
  crypto: `export const id = () => crypto.randomUUID();`,
  setTimeout: `export const wait = (work: () => void) => setTimeout(work, 1);`,
  setInterval: `export const repeat = (work: () => void) => setInterval(work, 1);`,
  setImmediate: `export const defer = (work: () => void) => setImmediate(work);`,
  queueMicrotask: `export const follow = queueMicrotask;`,
  process: `export const environment = () => process.env;`,
  console: `export const out = console;`,
  fetch: `export const get = () => fetch('https://shop.example');`,
  WebSocket: `export const connect = () => new WebSocket('wss://shop.example');`,
  global: `export const everything = global;`,
  globalThis: `export const all = globalThis;`,
  'Date.now': `export const millis = () => Date.now();`,
  'Math.random': `export const chance = () => Math.random();`,
  'NewExpression[callee.name="Date"][arguments.length=0]': `export const today = () => new Date();`,
  'CallExpression[callee.name="Date"]': `export const date = () => Date();`,
  ImportExpression: `export const load = () => import('./clock.ts');`,
};

/** For each forbidden pattern of tests in order, code that contains it. */
const timed: readonly string[] = [
  `export const begun = performance.now();`,
  `export const begun = process.hrtime.bigint();`,
  `import { monitorEventLoopDelay } from 'node:perf_hooks';\nexport const delay = monitorEventLoopDelay();`,
  `import { within } from '../support/until.ts';\nexport const soon = () => within(1);`,
  `export const begun = Date.now();`,
  `export const today = new Date();`,
  `export const later = (work: () => void) => setTimeout(work, 1);`,
  `export const often = (work: () => void) => globalThis.setInterval(work, 1);`,
  `export const soon = AbortSignal.timeout(1);`,
  `export const wait = (cell: Int32Array) => Atomics.wait(cell, 0, 0, 1);`,
  `import { setTimeout as pause } from 'node:timers/promises';\nexport const wait = () => pause(1);`,
  `import timers from 'node:timers';\nexport const wait = () => timers.setTimeout(() => undefined, 1);`,
];

const clock = 'export interface Clock {\n  now(): Date;\n}';
const contexts = ['kernel', 'catalogue', 'access', 'sites/use-cases', 'a-new-context'];

/** Correct code that is close to a violation: nothing may be reported. */
const allowed = {
  'src/app/clock.ts': clock,
  'src/app/everything.ts': Object.values(inside).join('\n'),
  'src/app/explained.ts': `// eslint-disable-next-line eqeqeq -- the API compares like this\n${compare}`,
  'src/app/lookups.ts': lookups,
  'src/app/early.ts': withLookups(
    `export const early = (c: Lookups) => {\n  const clock = c.get('clock');\n  return () => clock();\n};`,
  ),
  'src/app/end.ts': withLookups(
    `export const end = (container: Lookups) => () => container.unbindAllAsync();`,
  ),
  'src/app/length.ts': `export const length = (text: string) => [...text].length;`,
  'src/sites/domain/clock.ts': clock,
  'test/support/until.ts': `export const within = (ms: number) => performance.now() + ms;`,
  'test/unit/turn.ts': `import { setImmediate as turn } from 'node:timers/promises';\nexport const next = () => turn();`,
  'test/unit/moment.ts': `export const moment = new Date('2026-03-01');`,
  'src/sites/domain/later.ts': `export const later = (now: Date) => new Date(now.getTime() + 1);`,
};

interface Planted {
  readonly path: string;
  readonly rule: string | null;
  readonly code: string;
}

const [, ...globals] = insideRules['no-restricted-globals'];
const [, ...properties] = insideRules['no-restricted-properties'];
const restrictions = [
  ...globals.map(({ name }) => ({ rule: 'no-restricted-globals', name })),
  ...properties.map(({ object, property }) => ({
    rule: 'no-restricted-properties',
    name: `${object}.${property}`,
  })),
  ...Object.keys(forbiddenSyntax).map((name) => ({ rule: 'local/pure-syntax', name })),
];

const planted: readonly Planted[] = [
  ...Object.entries({ ...everywhere, ...patterns, ...wirings }).flatMap(([rule, codes]) =>
    codes.map((code, at) => ({
      path: `src/app/${rule.replace(/.*\//, '')}-${String(at)}.ts`,
      rule,
      code,
    })),
  ),
  ...restrictions.map(({ rule, name }) => ({
    path: `src/sites/domain/${name.replace(/\W+/g, '-')}.ts`,
    rule,
    code: inside[name] ?? '',
  })),
  ...contexts.map((context) => ({
    path: `src/${context}/time.ts`,
    rule: 'no-restricted-properties',
    code: `export const time = () => Date.now();`,
  })),
  ...timed.map((code, at) => ({
    path: `test/unit/timed-${String(at)}.ts`,
    rule: 'local/timeless-syntax',
    code,
  })),
  // The compiler's own errors come from the same run.
  {
    path: 'src/app/wrong-type.ts',
    rule: 'typescript/TS2322',
    code: "export const n: number = 'one';",
  },
  // The linter itself reports a suppression without effect, under no rule.
  {
    path: 'src/app/unused.ts',
    rule: null,
    code: `// eslint-disable-next-line eqeqeq -- nothing here needs this\nexport {};`,
  },
];

interface Report {
  readonly diagnostics: readonly { readonly filename: string; readonly code?: string }[];
}

const alsoRefused = [
  ['src/app/consistent-type-exports-0.ts', 'typescript/TS1205'],
  ['src/app/consistent-type-imports-0.ts', 'typescript/TS1484'],
  ['src/app/no-unused-vars-0.ts', 'typescript/TS6133'],
];

/** `eslint(eqeqeq)`, `typescript(no-explicit-any)` → the names in the configuration. */
const nameOf = (code: string | undefined): string | null =>
  code?.replace(/^eslint\((.+)\)$/, '$1').replace(/^(\w+)\((.+)\)$/, '$1/$2') ?? null;

let tree: PlantedTree;
let reported: readonly (readonly [path: string, rule: string | null])[];

beforeAll(async () => {
  const spoiled = Object.fromEntries(planted.map(({ path, code }) => [path, code]));
  const copied = ['package.json', 'tsconfig.json', 'oxlint.config.ts', 'lint-rules.js'];
  tree = await plantTree(copied, { ...allowed, ...spoiled });
  const { diagnostics } = (await tree.run(
    'oxlint/bin/oxlint',
    '--format',
    'json',
    'src',
    'test',
  )) as Report;
  reported = diagnostics.map(({ filename, code }) => [filename, nameOf(code)]);
});

afterAll(() => tree.remove());

test('each planted violation is reported under its rule, and nothing else is reported', () => {
  const expected = planted.map(({ path, rule }) => [path, rule]);
  expect(reported.toSorted()).toEqual([...expected, ...alsoRefused].toSorted());
});

test('every rule of our own has a planted violation', () => {
  expect(Object.keys(testRules)).toEqual(['local/timeless-syntax']);
  expect(timed).toHaveLength(Object.keys(timedSyntax).length);
  expect(Object.keys(everywhere).sort()).toEqual(Object.keys(ourRules).sort());
  expect(Object.keys(patterns).sort()).toEqual(Object.keys(patternRules).sort());
  expect(Object.keys(wirings)).toEqual(Object.keys(wiringRules));
});

test('every import that contexts and the kernel must not use has a planted violation', () => {
  expect(Object.keys(inside).sort()).toEqual(restrictions.map(({ name }) => name).sort());
});

test.each(Object.keys(timedTests))('%s may use the clock and exists', (pattern) => {
  expect(globSync(pattern)).not.toEqual([]);
});
