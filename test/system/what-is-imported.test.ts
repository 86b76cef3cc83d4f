import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { joinedPackages } from '../../src/app/joined-packages.ts';
import { newHome, type Home } from '../support/service/service-process.ts';

/**
 * Prints to standard error, at the end, which packages, parts of src and modules of Node the program imported, and for
 * how many of its files Node itself was asked where they are. The program answers with hooks of its own, so what is loaded
 * is counted in front of them, and what is looked up behind them.
 */
const tellImports = `
  import module from 'node:module';
  const found = new Map();
  let [files, lookedUp] = [0, 0];
  const register = module.registerHooks;
  const countLoads = {
    load: (url, context, next) => {
      if (url.startsWith('file:')) files += 1;
      const [, name] = /.*\\/(?:node_modules\\/\\.joined|node_modules|src\\/adapters)\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? [];
      if (name) {
        const one = (url.includes('/node_modules/') ? '' : 'src/adapters/') + name.replace(/\\.mjs$/, '');
        found.set(one, (found.get(one) ?? 0) + 1);
      }
      return next(url, context);
    },
  };
  register({
    resolve: (name, context, next) => {
      if (name.startsWith('.')) lookedUp += 1;
      return next(name, context);
    },
  });
  module.registerHooks = (hooks) => [register(hooks), register(countLoads)];
  module.syncBuiltinESMExports();
  process.on('exit', () => {
    if (process.moduleLoadList.some((name) => name.endsWith('/undici'))) found.set('fetch of Node', 1);
    process.stderr.write('imported: ' + [...found.keys()].join(', ') + '\\nlooked up ' + lookedUp + ' of ' + files + '\\n');
    process.stderr.write('files of kysely and inversify: ' + found.get('kysely') + ', ' + found.get('inversify') + '\\n');
  });
`;

const tellingImports = {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(tellImports)}`,
};

const importsIn = (stderr: string): readonly string[] =>
  (/^imported: (.*)$/m.exec(stderr)?.[1] ?? '').split(', ');

describe('the program', () => {
  let home: Home;
  beforeAll(async () => {
    home = await newHome('sqlite');
  });
  afterAll(() => home.remove());

  test('imports for its help only the package that reads the command line, so that it prints at once', async () => {
    for (const line of [['--help'], ['key', 'create', '--help']]) {
      const { stderr } = await home.execute(line, tellingImports);
      expect(importsIn(stderr)).toEqual(['commander']);
    }
  });

  const importedFor = async (roles: string): Promise<readonly string[]> => {
    const service = await home.start({ ...tellingImports, ROLES: roles });
    await service.end('SIGTERM');
    const imports = importsIn(service.stderr());
    expect(imports).toEqual(expect.arrayContaining(['src/adapters/kysely', 'kysely', 'pino']));
    return imports;
  };

  const openTelemetry = [
    ...['@opentelemetry/api', '@opentelemetry/sdk-trace'],
    '@opentelemetry/exporter-trace-otlp-proto',
    ...['@opentelemetry/core', '@opentelemetry/resources', 'src/adapters/tracing'],
  ];

  test('imports OpenTelemetry only where traces have a receiver', async () => {
    const receiver = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    const service = await home.start({ ...tellingImports, ...receiver, ROLES: 'api' });
    await service.end('SIGTERM');
    expect(importsIn(service.stderr())).toEqual(expect.arrayContaining(openTelemetry));
  });

  /** What only a few requests need is imported with the first of them. */
  const seldomNeeded = [
    ...['@zxcvbn-ts/language-common', 'tar-stream', 'yauzl', 'cli-progress'],
    ...['marked', '@valibot/to-json-schema', '@peculiar/x509', 'yaml', 'mysql2', 'ioredis'],
    'fetch of Node',
    ...openTelemetry,
  ];

  test('serves without what few requests need: the reference, certificates, YAML and other databases', async () => {
    const imports = await importedFor('api,dashboard,edge,worker');
    expect(imports.filter((name) => seldomNeeded.includes(name))).toEqual([]);
  });

  test('asks Node only for the first file of a folder what format its files have', async () => {
    const service = await home.start(tellingImports);
    await service.end('SIGTERM');
    const [, lookedUp, files] = /^looked up (\d+) of (\d+)$/m.exec(service.stderr()) ?? [];
    expect(Number(files)).toBeGreaterThan(500);
    expect(Number(lookedUp)).toBeLessThan(Number(files) / 2);
    // The 500 files of two packages are not among them.
    expect(Number(files)).toBeLessThan(1100);
    expect(service.stderr()).toContain('files of kysely and inversify: 1, 1\n');
  });

  test('takes a package that was joined into one file only while the versions in it are installed', async () => {
    const packages = await mkdtemp(join(tmpdir(), 'animal-store-joined-'));
    const write = (file: string, value: object) =>
      writeFile(join(packages, file), JSON.stringify(value));
    const found = () => [...joinedPackages(pathToFileURL(`${packages}/`))];
    await Promise.all(
      ['.joined', '@cats/paw'].map((one) => mkdir(join(packages, one), { recursive: true })),
    );
    expect(found()).toEqual([]);
    await write('.joined/joined.json', {
      names: ['cat', 'cat/tail'],
      versions: { '@cats/paw': '1.0.0' },
    });
    expect(found()).toEqual([]);
    await write('@cats/paw/package.json', { version: '1.0.0' });
    const folder = pathToFileURL(join(packages, '.joined')).href;
    expect(found()).toEqual([
      ['cat', `${folder}/cat.mjs`],
      ['cat/tail', `${folder}/cat/tail.mjs`],
    ]);
    await write('@cats/paw/package.json', { version: '1.0.1' });
    expect(found()).toEqual([]);
    await rm(packages, { recursive: true });
  });

  const pagePackages = ['@koa/router', 'hono', 'd3-scale', '@fastify/busboy'];
  const forPages = ['src/adapters/dashboard', ...pagePackages];
  const forChecks = ['src/adapters/acme', 'src/adapters/dns', 'dns-packet', 'tldts'];
  const forWork = ['src/adapters/threads', ...forChecks];
  const forVisitors = ['src/adapters/edge'];

  test('imports nothing about custom domains and pages for a command about accounts', async () => {
    // Migrations are among them only where one is pending.
    await home.execute(['migrate']);
    const { stderr } = await home.execute(['account', 'list'], tellingImports);
    const imports = importsIn(stderr);
    expect(imports).toEqual(expect.arrayContaining(['src/adapters/kysely', 'kysely']));
    const others = [...forPages, ...forWork, ...forVisitors, ...seldomNeeded];
    expect(imports.filter((name) => others.includes(name))).toEqual([]);
  });

  test.each([
    ['api', [...forPages, ...forWork, ...forVisitors, 'src/adapters/storage']],
    ['edge', [...forPages, ...forWork]],
    // How many sites are unpacked at once is declared beside the page that takes them.
    ['worker', [...pagePackages, ...forVisitors]],
    ['dashboard', forVisitors],
  ])(
    'with the role %s alone it imports nothing that only other roles use',
    async (role, others) => {
      const imports = await importedFor(role);
      expect(imports.filter((name) => [...others, ...seldomNeeded].includes(name))).toEqual([]);
    },
  );

  test('imports all of that where it has the role, so that the lists above name what exists', async () => {
    const imports = await importedFor('api,dashboard,edge,worker');
    const named = [...forPages, ...forWork, ...forVisitors, 'src/adapters/storage'];
    expect(named.filter((name) => !imports.includes(name))).toEqual([]);
  });
});
