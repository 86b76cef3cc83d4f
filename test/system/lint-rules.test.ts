import { relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { plantTree, type PlantedTree } from '../support/planted-tree.ts';

type Restriction = Readonly<Partial<Record<'name' | 'object' | 'property' | 'selector', string>>>;

const configFile = '../../eslint.config.js';
const { ourRules, patternRules, insideRules } = (await import(configFile)) as {
  readonly ourRules: Readonly<Record<string, unknown>>;
  readonly patternRules: Readonly<Record<string, unknown>>;
  readonly insideRules: Readonly<Record<string, readonly [string, ...Restriction[]]>>;
};

const compare = 'export const same = (a: unknown, b: unknown) => a == b;';

/** For each rule that holds everywhere, code that breaks only that rule. */
const everywhere: Readonly<Record<string, readonly string[]>> = {
  eqeqeq: [compare],
  'local/explained-suppression': [
    `// eslint-disable-next-line eqeqeq\n${compare}`,
    `/* eslint-disable */\n${compare}`,
    `${compare} // eslint-disable-line -- why`,
    `/* eslint eqeqeq: off */\n${compare}`,
  ],
  '@typescript-eslint/ban-ts-comment': [
    `// @ts-expect-error\nexport const text: string = 1;`,
    `// @ts-ignore: has to stay, whatever it is\nexport const text = '';`,
  ],
  '@typescript-eslint/consistent-type-exports': [`export { Clock } from './clock.ts';`],
  '@typescript-eslint/consistent-type-imports': [
    `import { Clock } from './clock.ts';\nexport const now = (clock: Clock) => clock.now();`,
  ],
  '@typescript-eslint/no-explicit-any': [`export const same = (value: any): unknown => value;`],
  '@typescript-eslint/no-floating-promises': [
    `export const forget = (work: () => Promise<void>): void => {\n  work();\n};`,
  ],
  '@typescript-eslint/no-import-type-side-effects': [
    `import { type Clock } from './clock.ts';\nexport const now = (clock: Clock) => clock.now();`,
  ],
  '@typescript-eslint/no-misused-spread': [
    `export const copy = (map: Map<string, string>) => ({ ...map });`,
  ],
  '@typescript-eslint/no-unused-vars': [`const forgotten = 1;\nexport {};`],
  '@typescript-eslint/restrict-template-expressions': [
    'export const show = (value: boolean) => `${value}`;',
  ],
  '@typescript-eslint/switch-exhaustiveness-check': [
    `export const f = (a: 1 | 2) => {\n  switch (a) {\n    case 1:\n      return 3;\n  }\n  return 4;\n};`,
    `export const f = (a: 1 | 2) => {\n  switch (a) {\n    case 1:\n      return 3;\n    default:\n      return 4;\n  }\n};`,
  ],
};

/** The same for patterns. */
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

/** The same for what is forbidden in contexts and kernel, by its name or selector. */
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

const clock = 'export interface Clock {\n  now(): Date;\n}';
const contexts = ['kernel', 'catalogue', 'access', 'sites/use-cases', 'a-new-context'];

/** Correct code that is close to a violation: nothing may be reported. */
const allowed = {
  'src/app/clock.ts': clock,
  'src/app/everything.ts': Object.values(inside).join('\n'),
  'src/app/explained.ts': `// eslint-disable-next-line eqeqeq -- the API compares like this\n${compare}`,
  'src/app/length.ts': `export const length = (text: string) => [...text].length;`,
  'src/sites/domain/clock.ts': clock,
  'src/sites/domain/later.ts': `export const later = (now: Date) => new Date(now.getTime() + 1);`,
};

interface Planted {
  readonly path: string;
  readonly rule: string | null;
  readonly code: string;
}

const nameOf = ({ name, object, property, selector }: Restriction) =>
  name ?? selector ?? `${object ?? ''}.${property ?? ''}`;

const restrictions = Object.entries(insideRules).flatMap(([rule, [, ...all]]) =>
  all.map((restriction) => ({ rule, name: nameOf(restriction) })),
);

const planted: readonly Planted[] = [
  ...Object.entries({ ...everywhere, ...patterns }).flatMap(([rule, codes]) =>
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
  // A suppression that suppresses nothing is reported by ESLint itself, under no rule.
  {
    path: 'src/app/unused.ts',
    rule: null,
    code: `// eslint-disable-next-line eqeqeq -- nothing here needs this\nexport {};`,
  },
];

interface FileReport {
  readonly filePath: string;
  readonly messages: readonly { readonly ruleId: string | null }[];
}

let tree: PlantedTree;
let reported: readonly (readonly [string, readonly (string | null)[]])[];

beforeAll(async () => {
  const spoiled = Object.fromEntries(planted.map(({ path, code }) => [path, code]));
  const copied = ['package.json', 'tsconfig.json', 'eslint.config.js'];
  tree = await plantTree(copied, { ...allowed, ...spoiled });
  const files = await tree.run('eslint/bin/eslint.js', '--format', 'json', 'src');
  reported = (files as readonly FileReport[]).map(({ filePath, messages }) => [
    relative(tree.folder, filePath),
    messages.map(({ ruleId }) => ruleId),
  ]);
});

afterAll(() => tree.remove());

test('each planted violation is reported under its rule, and nothing else is', () => {
  const expected = [
    ...planted.map(({ path, rule }) => [path, [rule]]),
    ...Object.keys(allowed).map((path) => [path, []]),
  ];
  expect(Object.fromEntries(reported)).toEqual(Object.fromEntries(expected));
});

test('every rule of our own has a planted violation', () => {
  expect(Object.keys(everywhere).sort()).toEqual(Object.keys(ourRules).sort());
  expect(Object.keys(patterns).sort()).toEqual(Object.keys(patternRules).sort());
});

test('every import that contexts and kernel may not use has a planted violation', () => {
  expect(Object.keys(inside).sort()).toEqual(restrictions.map(({ name }) => name).sort());
});
