import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { newHome, type Home } from '../support/service/service-process.ts';

/** Prints to standard error, at the end, the packages and parts of src that the program imported. */
const tellImports = `
  import { registerHooks } from 'node:module';
  const found = new Set();
  registerHooks({
    load: (url, context, next) => {
      const [, name] = /.*\\/(?:node_modules|src)\\/((?:@[^/]+\\/|adapters\\/)?[^/]+)/.exec(url) ?? [];
      if (name) found.add(name);
      return next(url, context);
    },
  });
  process.on('exit', () => process.stderr.write('imported: ' + [...found].join(', ') + '\\n'));
`;

const tellingImports = {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(tellImports)}`,
};

const importsIn = (stderr: string): readonly string[] =>
  (/^imported: (.*)$/m.exec(stderr)?.[1] ?? '').split(', ');

test('only one table imports parts on demand, apart from a driver and passkeys', () => {
  const found = globSync('src/**/*.ts').flatMap((path) => {
    const imports = readFileSync(path, 'utf8').match(/(?<!typeof )\bimport\(/g) ?? [];
    return imports.map(() => path);
  });
  const packages = [
    'src/adapters/kysely/engine/mysql-engine.ts',
    'src/adapters/passkeys/web-authn-passkeys.ts',
  ];
  const others = found.filter((path) => path !== 'src/app/on-demand.ts');
  expect(others.toSorted()).toEqual(packages);
  expect(found.length).toBeLessThanOrEqual(12);
});

describe('the program', () => {
  let home: Home;
  beforeAll(async () => {
    home = await newHome('sqlite');
  });
  afterAll(() => home.remove());

  const toServe = ['inversify', 'kysely', 'koa', 'hono'];
  const ofSettings = [
    ...['mysql2', 'ioredis', 'nodemailer', '@aws-sdk/client-s3'],
    ...['@opentelemetry/sdk-trace', 'adapters/tracing'],
  ];

  test.each([[['--help']], [['key', 'create', '--help']]])(
    'imports nothing to serve, and no database, for %j',
    async (line) => {
      const imports = importsIn((await home.execute(line, tellingImports)).stderr);
      expect(imports).toContain('commander');
      expect(imports.filter((name) => [...toServe, ...ofSettings].includes(name))).toEqual([]);
    },
  );

  const importedToServe = async (settings: Readonly<Record<string, string>>) => {
    const service = await home.start({ ...tellingImports, ...settings });
    await service.end('SIGTERM');
    return importsIn(service.stderr());
  };

  test('imports no driver and no client unless a setting needs it', async () => {
    const imports = await importedToServe({});
    expect(imports).toEqual(expect.arrayContaining(toServe));
    expect(imports.filter((name) => ofSettings.includes(name))).toEqual([]);
  });

  test('imports OpenTelemetry only if there is a receiver of traces', async () => {
    const receiver = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    const imports = await importedToServe({ ...receiver, ROLES: 'api' });
    expect(imports).toEqual(expect.arrayContaining(['@opentelemetry/sdk-trace']));
  });
});
