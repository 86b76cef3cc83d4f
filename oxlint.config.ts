import { defineConfig } from 'oxlint';

type Setting =
  'error' | ['error', ...('error-handling-correctness-only' | Record<string, unknown>)[]];
type Rules = Readonly<Record<string, Setting>>;

const errors = (...names: readonly string[]): Readonly<Record<string, 'error'>> =>
  Object.fromEntries(names.map((name) => [name, 'error']));

const typescript = (...names: readonly string[]): Readonly<Record<string, 'error'>> =>
  errors(...names.map((name) => `typescript/${name}`));

/** What ESLint recommends for all code. */
const recommended = errors(
  ...['constructor-super', 'for-direction', 'getter-return', 'no-async-promise-executor'],
  ...['no-case-declarations', 'no-class-assign', 'no-compare-neg-zero', 'no-cond-assign'],
  ...['no-const-assign', 'no-constant-binary-expression', 'no-constant-condition'],
  ...['no-control-regex', 'no-debugger', 'no-delete-var', 'no-dupe-class-members'],
  ...['no-dupe-else-if', 'no-dupe-keys', 'no-duplicate-case', 'no-empty'],
  ...['no-empty-character-class', 'no-empty-pattern', 'no-empty-static-block', 'no-ex-assign'],
  ...['no-extra-boolean-cast', 'no-fallthrough', 'no-func-assign', 'no-global-assign'],
  ...['no-import-assign', 'no-invalid-regexp', 'no-irregular-whitespace', 'no-loss-of-precision'],
  ...['no-misleading-character-class', 'no-new-native-nonconstructor'],
  ...['no-nonoctal-decimal-escape', 'no-obj-calls', 'no-prototype-builtins', 'no-redeclare'],
  ...['no-regex-spaces', 'no-self-assign', 'no-setter-return', 'no-shadow-restricted-names'],
  ...['no-sparse-arrays', 'no-this-before-super', 'no-unassigned-vars', 'no-undef'],
  ...['no-unexpected-multiline', 'no-unreachable', 'no-unsafe-finally', 'no-unsafe-negation'],
  ...['no-unsafe-optional-chaining', 'no-unused-labels', 'no-unused-private-class-members'],
  ...['no-unused-vars', 'no-useless-assignment', 'no-useless-backreference', 'no-useless-catch'],
  ...['no-useless-escape', 'no-with', 'preserve-caught-error', 'require-yield', 'use-isnan'],
  'valid-typeof',
);

/** typescript-eslint's strict and stylistic sets, with those that ask the types. */
const strict = {
  ...errors('no-array-constructor', 'no-empty-function', 'no-unused-expressions', 'no-var'),
  ...errors('no-useless-constructor', 'prefer-const', 'prefer-rest-params', 'prefer-spread'),
  ...typescript(
    ...['adjacent-overload-signatures', 'array-type', 'await-thenable', 'ban-tslint-comment'],
    ...['class-literal-property-style', 'consistent-generic-constructors'],
    ...['consistent-indexed-object-style', 'consistent-type-assertions'],
    ...['consistent-type-definitions', 'dot-notation', 'no-array-delete', 'no-base-to-string'],
    ...['no-confusing-non-null-assertion', 'no-confusing-void-expression', 'no-deprecated'],
    ...['no-duplicate-enum-values', 'no-duplicate-type-constituents', 'no-dynamic-delete'],
    ...['no-empty-object-type', 'no-extra-non-null-assertion', 'no-extraneous-class'],
    ...['no-for-in-array', 'no-generated-empty-object-type', 'no-implied-eval'],
    ...['no-inferrable-types', 'no-invalid-void-type', 'no-meaningless-void-operator'],
    ...['no-misused-new', 'no-misused-promises', 'no-mixed-enums', 'no-namespace'],
    ...['no-non-null-asserted-nullish-coalescing', 'no-non-null-asserted-optional-chain'],
    ...['no-non-null-assertion', 'no-redundant-type-constituents', 'no-require-imports'],
    ...['no-this-alias', 'no-unnecessary-boolean-literal-compare', 'no-unnecessary-condition'],
    ...['no-unnecessary-template-expression', 'no-unnecessary-type-arguments'],
    ...['no-unnecessary-type-assertion', 'no-unnecessary-type-constraint'],
    ...['no-unnecessary-type-conversion', 'no-unnecessary-type-parameters'],
    ...['no-unsafe-argument', 'no-unsafe-assignment', 'no-unsafe-call'],
    ...['no-unsafe-declaration-merging', 'no-unsafe-function-type', 'no-unsafe-member-access'],
    ...['no-unsafe-return', 'no-unsafe-unary-minus', 'no-useless-default-assignment'],
    ...['no-wrapper-object-types', 'non-nullable-type-assertion-style', 'only-throw-error'],
    ...['prefer-as-const', 'prefer-find', 'prefer-for-of', 'prefer-function-type'],
    ...['prefer-includes', 'prefer-literal-enum-member', 'prefer-namespace-keyword'],
    ...['prefer-nullish-coalescing', 'prefer-optional-chain', 'prefer-promise-reject-errors'],
    ...['prefer-reduce-type-parameter', 'prefer-regexp-exec', 'prefer-return-this-type'],
    ...['prefer-string-starts-ends-with', 'related-getter-setter-pairs', 'require-await'],
    ...['triple-slash-reference', 'unbound-method', 'unified-signatures'],
    'use-unknown-in-catch-callback-variable',
  ),
  'typescript/return-await': ['error', 'error-handling-correctness-only'],
  'typescript/restrict-plus-operands': [
    'error',
    {
      allowAny: false,
      allowBoolean: false,
      allowNullish: false,
      allowNumberAndString: false,
      allowRegExp: false,
    },
  ],
} satisfies Rules;

// test/system/lint-rules.test.ts plants a violation of each of these and sees it caught.

/** For all TypeScript, on top of the strict sets. */
export const ourRules = {
  eqeqeq: 'error',
  'local/explained-suppression': 'error',
  'local/plain-literals': 'error',
  'no-nested-ternary': 'error',
  'typescript/ban-ts-comment': [
    'error',
    {
      'ts-expect-error': 'allow-with-description' as const,
      'ts-ignore': true,
      'ts-nocheck': true,
      minimumDescriptionLength: 10,
    },
  ],
  'typescript/consistent-type-exports': 'error',
  'typescript/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' as const }],
  'typescript/no-explicit-any': 'error',
  'typescript/no-floating-promises': 'error',
  // Node strips names, not statements: `import { type A } from 'x'` would still load x.
  'typescript/no-import-type-side-effects': 'error',
  // `[...text]` gives code points, and code points are what the interface counts.
  'typescript/no-misused-spread': ['error', { allow: ['string'] }],
  // `const { secret, ...shown } = key` is the plain way to leave a field out.
  'no-unused-vars': ['error', { ignoreRestSiblings: true }],
  'typescript/restrict-template-expressions': [
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
  'typescript/switch-exhaustiveness-check': [
    'error',
    // A default may say loudly that a row is corrupt; it may not stand in for a forgotten case.
    { considerDefaultExhaustiveForUnions: false, requireDefaultForNonUnion: true },
  ],
} satisfies Rules;

/**
 * For all patterns of the product: none may take longer on a long text than its length says. The rules see what is
 * written as a literal; what `new RegExp` puts together is found by test/contract/slow-texts.test.ts.
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
} satisfies Rules;

/** For what is put together by the container. */
export const wiringRules = { 'local/late-lookups': 'error' } satisfies Rules;

const clock = 'The time comes in as `now`; a use case asks its Clock.';
const chance = 'Chance comes in; a use case asks its Ids or KeyMaterial.';
const waiting = 'Nothing waits in here; a job or an adapter calls when it is time.';
const outside = 'What is outside comes in, as an argument or through a port.';

const forbid = (message: string, ...globals: readonly string[]) =>
  globals.map((name) => ({ name, message }));

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
  'local/pure-syntax': 'error',
} satisfies Rules;

/** For tests: none knows how fast the machine is. */
export const testRules = { 'local/timeless-syntax': 'error' } satisfies Rules;

/** The tests that may measure, wait or ask the clock all the same, and why. */
export const timedTests: Readonly<Record<string, string>> = {
  'test/support/until.ts': 'It is what the others wait with.',
  'test/support/held-timeouts.ts': 'It lets the time of a process stand still, at what it is.',
  'test/support/servers/{mysql-proxy,object-store,tcp-proxy}.ts': 'Slow networks and servers.',
  'test/support/servers/balancer.ts': 'It asks its processes now and then, as balancers do.',
  'test/support/service/{persistent-writer,visits}.ts': 'Clients that pause between two requests.',
  'test/support/service/{health-prober,health-watch}.ts': 'They measure for what a release needs.',
  'test/{release,faults,fuzz,attacks}/**':
    'What a release needs, and no plain change: it may measure.',
  'test/lab/**':
    'Authorities, name servers and visitors that take their time, also for manual use.',
  'test/machines/**': 'Containers and systemd take their own time.',
  'test/simulation/world/**':
    'Models of what takes its time outside; in a run that time is virtual.',
  'test/plants/main.ts': 'It tells how long each plant took.',
};

export default defineConfig({
  plugins: ['typescript'],
  jsPlugins: ['./lint-rules.js', 'eslint-plugin-regexp'],
  categories: { correctness: 'off' },
  options: { typeAware: true, typeCheck: true, reportUnusedDisableDirectives: 'error' },
  env: { builtin: true },
  ignorePatterns: ['.node/', '.cache/', 'coverage/', 'dist/', 'var/'],
  rules: { ...recommended, 'local/explained-suppression': 'error' },
  overrides: [
    { files: ['**/*.{js,cjs}'], globals: { console: 'readonly', process: 'readonly' } },
    { files: ['**/*.cjs'], env: { node: true, commonjs: true } },
    // They run in browsers, as they are.
    {
      files: [
        'src/adapters/dashboard/**/{browser,drop-folder,passkeys}.js',
        'src/adapters/http/**/reference.js',
        'test/support/**/page-{clock,finder,shape}.js',
      ],
      env: { browser: true },
    },
    // The compiler knows what is defined.
    {
      files: ['**/*.ts'],
      rules: { 'no-undef': 'off', 'no-redeclare': 'off', ...strict, ...ourRules },
    },
    { files: ['src/**/*.{ts,js}', 'db/**/*.ts'], rules: patternRules },
    // All of src but the outside, so that a new context is covered from its first file.
    {
      files: ['src/*/**/*.ts'],
      excludeFiles: ['src/adapters/**', 'src/app/**'],
      rules: insideRules,
    },
    { files: ['src/app/**/*.ts'], rules: wiringRules },
    // Kysely makes its expression builders to be taken apart: `({ not, exists }) => …`.
    {
      files: ['src/adapters/kysely/**/*.ts', 'db/**/*.ts'],
      rules: { 'typescript/unbound-method': 'off' },
    },
    {
      files: ['test/**/*.ts'],
      rules: {
        // A test that is wrong about `!` fails anyway.
        'typescript/no-non-null-assertion': 'off',
        // Stand-ins are one line each: `stop: () => calls.push('stop')`, `fake<Port>()`.
        'typescript/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
        'typescript/no-unnecessary-type-parameters': 'off',
      },
    },
    { files: ['test/**/*.{ts,js}'], excludeFiles: Object.keys(timedTests), rules: testRules },
  ],
});
