/**
 * The architecture as rules. docs/architecture.md says why it is this way;
 * test/system/architecture-rules.test.ts plants a violation of each rule and sees it caught.
 */

// All of src but the outside, so that a new context is covered from its first file.
const context = '^src/(?!kernel/|adapters/|app/)([^/]+)/';
const npm = (...names) => `(^|/)node_modules/(${names.join('|')})/`;
// What a rule may use: pure functions over an old standard, without dependencies, I/O, clock or chance.
const purePackages = npm('crc-32', 'ipaddr\\.js');
const core = (...names) => `^(node:)?(${names.join('|')})(/|$)`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment:
        'Files that need each other cannot be read, tested or moved one at a time. Imports on demand run later.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['dynamic-import'] } },
    },
    {
      name: 'rooms-import-one-way',
      comment:
        'Folders of one part that need each other are one folder that was cut in the wrong place.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/[^/]+/[^/]+/[^/]+$' },
      to: { path: '^src/[^/]+/[^/]+/[^/]+$', circular: true },
    },
    {
      name: 'three-folder-levels',
      comment: 'A large folder is split by subject, one level deeper and no more.',
      severity: 'error',
      from: { path: '^src/[^/]+/[^/]+/[^/]+/[^/]+/' },
      to: {},
    },
    {
      name: 'no-barrels',
      comment: 'An index file hides who uses what and loads everything. Import the file itself.',
      severity: 'error',
      from: { path: '^src/(|.+/)index\\.[cm]?[jt]s$' },
      to: {},
    },
    {
      name: 'no-orphans',
      comment:
        'Nobody imports it and it imports nothing: it is dead, or was forgotten in the wiring.',
      severity: 'error',
      // Scripts that are read as files, and run in browsers; types beside a script are found by its name.
      from: {
        orphan: true,
        path: '^src/',
        pathNot: [
          '^src/adapters/http/reference/reference\\.js$',
          '^src/adapters/dashboard/sign-in/passkeys\\.js$',
          '\\.d\\.ts$',
        ],
      },
      to: {},
    },
    {
      name: 'kernel-imports-only-kernel',
      comment: 'The kernel is what every context agrees on. Nothing under it may move.',
      severity: 'error',
      from: { path: '^src/kernel/' },
      to: { pathNot: '^src/kernel/' },
    },
    {
      name: 'domain-imports-only-itself-and-kernel',
      comment:
        'A rule of the business is a pure function: no port, no use case, no package but the pure ones.',
      severity: 'error',
      from: { path: `${context}domain/` },
      to: { pathNot: ['^src/kernel/', '^src/$1/domain/', purePackages] },
    },
    {
      name: 'contexts-stay-apart',
      comment: 'What a context needs of another is a port of its own, bridged in src/app.',
      severity: 'error',
      from: { path: context, pathNot: '/domain/' },
      to: { path: context, pathNot: '^src/$1/' },
    },
    {
      name: 'contexts-import-nothing-outside',
      comment:
        'The domain decides, adapters act: no adapter, no app, no node: module, no package but the pure ones.',
      severity: 'error',
      from: { path: context, pathNot: '/domain/' },
      to: { pathNot: [context, '^src/kernel/', purePackages] },
    },
    {
      name: 'adapter-families-stay-apart',
      comment: 'Each thing outside can be replaced alone. What two of them share is a port.',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      to: { path: '^src/adapters/', pathNot: '^src/adapters/$1/' },
    },
    {
      name: 'adapters-do-not-import-app',
      comment:
        'src/app is the only place that knows everything; adapters get settings as arguments.',
      severity: 'error',
      from: { path: '^src/adapters/' },
      to: { path: '^src/(app/|main\\.ts$)' },
    },
    {
      name: 'inversify-only-in-app',
      comment: 'Everything else is plain functions and classes that can be made by hand.',
      severity: 'error',
      from: { pathNot: '^(src/app|test|bench)/' },
      to: { path: npm('inversify') },
    },
    {
      name: 'reflect-metadata-only-where-packages-need-it',
      comment: 'Inversify and @peculiar/x509 read it. Nothing of ours is told by decorators.',
      severity: 'error',
      from: { pathNot: '^(src/(app|adapters/acme)|test)/' },
      to: { path: npm('reflect-metadata') },
    },
    {
      name: 'koa-only-in-http',
      comment: 'HTTP ends at the inbound adapters.',
      severity: 'error',
      from: { pathNot: '^(src/(adapters/(http|dashboard|edge)|app)|bench)/' },
      to: { path: npm('koa', '@koa/[^/]+', '@types/koa[^/]*') },
    },
    {
      name: 'kysely-only-in-its-adapters',
      comment: 'SQL is written in one folder, which serves both databases. Bench compares with it.',
      severity: 'error',
      from: { pathNot: '^(src/adapters/kysely|src/app|db|bench)/' },
      to: { path: npm('kysely') },
    },
    {
      name: 'drivers-only-in-kysely-adapters',
      comment: 'Which database it is, is known in one file. Tests and bench look behind its back.',
      severity: 'error',
      from: {
        pathNot: '^(src/adapters/kysely|src/app|db|bench|test/(support|contract|simulation))/',
      },
      to: { path: npm('better-sqlite3', 'mysql2') },
    },
    {
      name: 'aws-sdk-only-in-storage',
      comment:
        'It is heavy, and its errors hold what was signed: one folder imports it late and keeps them.',
      severity: 'error',
      from: { pathNot: '^src/adapters/storage/s3/' },
      to: { path: npm('@aws-sdk/[^/]+') },
    },
    {
      name: 'unit-tests-touch-no-io',
      comment:
        'Unit tests take seconds in all: whatever they reach is pure. Stores belong to test/use-cases.',
      severity: 'error',
      from: { path: '^test/unit/' },
      to: {
        reachable: true,
        path: [
          core('fs', 'net', 'tls', 'dgram', 'dns', 'http', 'https', 'http2', 'child_process'),
          core('cluster', 'worker_threads', 'sqlite', 'readline', 'repl', 'inspector'),
          npm('kysely', 'better-sqlite3', 'mysql2', 'ioredis', 'acme-client', 'puppeteer-core'),
          '^src/adapters/(kysely|redis/(?!redis-address))',
        ],
      },
    },
    {
      name: 'production-imports-no-tests',
      comment: 'What runs in production does not lean on tests, measurements or printed pages.',
      severity: 'error',
      from: { path: '^(src|db)/' },
      to: { path: '^(test|bench|docs)/' },
    },
    {
      name: 'production-imports-no-dev-packages',
      comment: 'Packages for development are not there in production. Their types may be.',
      severity: 'error',
      from: { path: '^(src|db)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'packages-are-listed',
      comment: 'A package that only another one brings along can vanish with the next update.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'imports-resolve',
      comment: 'An import that leads nowhere would escape every rule above.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // A program of others' packages, which are there only after `make bench`.
    exclude: { path: '^bench/fastify/' },
    // Types count: knowing a shape is a dependency too, although Node strips it.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.cjs', '.mjs', '.json', '.d.ts'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
