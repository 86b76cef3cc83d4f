import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

/** Every suppression, and every rule changed in a comment, says after ` -- ` why that is right. */
const explainedSuppression = {
  meta: { messages: { unexplained: 'Say after " -- " why this suppression is right.' } },
  create: (context) => ({
    Program() {
      for (const { value, loc } of context.sourceCode.getAllComments()) {
        if (!/^\s*eslint(-disable|\s)/.test(value) || /\s--\s+\S.{9}/s.test(value)) continue;
        // Column -1 lies before the reach of the very comment that is reported, so it cannot hide.
        const column = -1;
        context.report({ loc: { line: loc.start.line, column }, messageId: 'unexplained' });
      }
    },
  }),
};

// test/system/lint-rules.test.ts plants a violation of each of these and sees it caught.

/** For all TypeScript, on top of typescript-eslint's strict sets. */
export const ourRules = {
  eqeqeq: 'error',
  'local/explained-suppression': 'error',
  '@typescript-eslint/ban-ts-comment': [
    'error',
    {
      'ts-expect-error': 'allow-with-description',
      'ts-ignore': true,
      'ts-nocheck': true,
      minimumDescriptionLength: 10,
    },
  ],
  '@typescript-eslint/consistent-type-exports': 'error',
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-floating-promises': 'error',
  // Node strips names, not statements: `import { type A } from 'x'` would still load x.
  '@typescript-eslint/no-import-type-side-effects': 'error',
  // `[...text]` gives code points, and code points are what the interface counts.
  '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
  // `const { secret, ...shown } = key` is the plain way to leave a field out.
  '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
  '@typescript-eslint/restrict-template-expressions': [
    'error',
    {
      allowAny: false,
      allowBoolean: false,
      allowNever: false,
      allowNullish: false,
      allowNumber: true,
      allowRegExp: false,
    },
  ],
  '@typescript-eslint/switch-exhaustiveness-check': [
    'error',
    // A default may say loudly that a row is corrupt; it may not stand in for a forgotten case.
    { considerDefaultExhaustiveForUnions: false, requireDefaultForNonUnion: true },
  ],
};

/**
 * For all patterns of the product: none may take longer on a long text than its length says. The rules see what is
 * written as a literal; what `new RegExp` puts together is listed in test/support/text-parsers.ts with the rest.
 */
export const patternRules = {
  'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
  // What is tried again from every character: slow even where nothing backtracks.
  'regexp/no-super-linear-move': [
    'error',
    { report: 'potential', ignorePartial: false, ignoreSticky: false },
  ],
  'regexp/no-contradiction-with-assertion': 'error',
  'regexp/no-dupe-disjunctions': 'error',
  'regexp/no-useless-lazy': 'error',
  'regexp/optimal-quantifier-concatenation': 'error',
};

const clock = 'The time comes in as `now`; a use case asks its Clock.';
const chance = 'Chance comes in; a use case asks its Ids or KeyMaterial.';
const waiting = 'Nothing waits in here; a job or an adapter calls when it is time.';
const outside = 'What is outside comes in, as an argument or through a port.';

/** They run in browsers, as they are. */
const browserScripts = [
  'src/adapters/dashboard/frame/browser.js',
  'src/adapters/http/reference/reference.js',
  'test/support/dashboard/page-shape.js',
];

/** What they take from the browser. */
const browserNames = [
  ...['document', 'history', 'location', 'navigator', 'addEventListener'],
  ...['setInterval', 'setTimeout', 'EventSource', 'FormData', 'URL', 'XMLHttpRequest'],
  ...['DOMParser', 'Element', 'HTMLDetailsElement', 'HTMLFormElement', 'Text'],
  ...['URLSearchParams', 'Request', 'fetch'],
];

const forbid = (message, ...globals) => globals.map((name) => ({ name, message }));

/** For the contexts and the kernel: the domain decides, adapters act. */
export const insideRules = {
  'no-restricted-globals': [
    'error',
    ...forbid(clock, 'performance'),
    ...forbid(chance, 'crypto'),
    ...forbid(waiting, 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'),
    ...forbid(outside, 'process', 'console', 'fetch', 'WebSocket', 'global', 'globalThis'),
  ],
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: clock },
    { object: 'Math', property: 'random', message: chance },
  ],
  'no-restricted-syntax': [
    'error',
    { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: clock },
    { selector: 'CallExpression[callee.name="Date"]', message: clock },
    { selector: 'ImportExpression', message: outside },
  ],
};

export default defineConfig(
  globalIgnores(['.node/', '.cache/', 'coverage/', 'dist/', 'var/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    files: ['**/*.{js,cjs}'],
    ignores: browserScripts,
    languageOptions: { globals: { console: 'readonly', process: 'readonly' } },
  },
  {
    files: browserScripts,
    languageOptions: {
      globals: Object.fromEntries(browserNames.map((name) => [name, 'readonly'])),
    },
  },
  { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs' } },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    plugins: { local: { rules: { 'explained-suppression': explainedSuppression } } },
    languageOptions: {
      // One program for one run: the service for editors takes a sixth longer.
      parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    // They take six seconds, and the compiler refuses every enum of ours (`erasableSyntaxOnly` in tsconfig.json).
    rules: {
      ...ourRules,
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
    },
  },
  {
    files: ['src/**/*.{ts,js}', 'db/**/*.ts'],
    plugins: { regexp },
    rules: patternRules,
  },
  {
    // All of src but the outside, so that a new context is covered from its first file.
    files: ['src/*/**/*.ts'],
    ignores: ['src/adapters/**', 'src/app/**'],
    rules: insideRules,
  },
  {
    // Kysely makes its expression builders to be taken apart: `({ not, exists }) => …`.
    files: ['src/adapters/kysely/**/*.ts', 'db/**/*.ts'],
    rules: { '@typescript-eslint/unbound-method': 'off' },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      // A test that is wrong about `!` fails anyway.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Stand-ins are one line each: `stop: () => calls.push('stop')`, `fake<Port>()`.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // Tables of adapters and stand-ins mix classes of one shape on purpose.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
    },
  },
);
