import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { plantTree, type PlantedTree } from '../support/planted-tree.ts';

const require = createRequire(import.meta.url);
const config = require('../../.dependency-cruiser.cjs') as {
  readonly forbidden: readonly { readonly name: string; readonly scope?: string }[];
};

const violations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'no-cycles': {
    'src/adapters/memory/planted-egg.ts': `import type { Hen } from './planted-hen.ts';`,
  },
  'rooms-import-one-way': {
    'src/adapters/kysely/planted-one/first.ts': `import '../planted-other/first.ts';`,
    'src/adapters/kysely/planted-other/second.ts': `import '../planted-one/second.ts';`,
  },
  'three-folder-levels': {
    'src/adapters/memory/planted/far/deep.ts': `import '../../../../kernel/ports.ts';`,
  },
  'no-barrels': {
    'src/catalogue/index.ts': `export * from './ports.ts';`,
  },
  'no-orphans': {
    'src/adapters/planted/forgotten.ts': `export const forgotten = true;`,
  },
  'kernel-imports-only-kernel': {
    'src/kernel/planted-context.ts': `import type { Plan } from '../access/domain/quota.ts';`,
    'src/kernel/planted-package.ts': `import 'valibot';`,
  },
  'domain-imports-only-itself-and-kernel': {
    'src/catalogue/domain/planted-port.ts': `import type { Pets } from '../ports.ts';`,
    'src/catalogue/domain/planted-neighbour.ts': `import '../../access/domain/quota.ts';`,
    'src/catalogue/domain/planted-package.ts': `import 'valibot';`,
    'src/catalogue/domain/planted-node.ts': `import 'node:crypto';`,
  },
  'contexts-stay-apart': {
    'src/catalogue/planted-neighbour.ts': `import type { Accounts } from '../access/ports.ts';`,
    'src/planted/new-context.ts': `import '../sites/ports.ts';`,
  },
  'contexts-import-nothing-outside': {
    'src/catalogue/planted-adapter.ts': `import '../adapters/system/system-ports.ts';`,
    'src/access/planted-app.ts': `import type { Config } from '../app/settings/config.ts';`,
    'src/sites/use-cases/planted-package.ts': `import 'valibot';`,
    'src/access/use-cases/planted-node.ts': `import 'node:crypto';`,
    'src/planted/new-node.ts': `export const os = () => import('node:os');`,
  },
  'adapter-families-stay-apart': {
    'src/adapters/metering/planted-family.ts': `import '../system/system-ports.ts';`,
  },
  'adapters-do-not-import-app': {
    'src/adapters/metering/planted-config.ts': `import type { Config } from '../../app/settings/config.ts';`,
  },
  'inversify-only-in-app': {
    'src/adapters/metering/planted-inversify.ts': `import 'inversify';`,
    'src/adapters/acme/planted-inversify.ts': `import 'inversify';`,
  },
  'reflect-metadata-only-where-packages-need-it': {
    'src/adapters/metering/planted-reflection.ts': `import 'reflect-metadata';`,
  },
  'koa-only-in-http': {
    'src/adapters/metering/planted-koa.ts': `import type Koa from 'koa';`,
    'src/adapters/metering/planted-router.ts': `import '@koa/router';`,
  },
  'kysely-only-in-its-adapters': {
    'src/adapters/memory/planted-kysely.ts': `import type { Kysely } from 'kysely';`,
  },
  'drivers-only-in-kysely-adapters': {
    'src/adapters/memory/planted-mysql.ts': `import 'mysql2';`,
    'src/adapters/memory/planted-sqlite.ts': `import 'better-sqlite3';`,
  },
  'aws-sdk-only-in-storage': {
    'src/adapters/acme/planted-sdk.ts': `import '@aws-sdk/client-s3';`,
  },
  'unit-tests-touch-no-io': {
    'test/unit/planted-at-once.test.ts': `import 'node:fs';`,
    'test/unit/planted-by-way-of.test.ts': `import '../support/planted-files.ts';`,
    'test/unit/planted-sql.test.ts': `import '../../src/adapters/kysely/tables.ts';`,
  },
  'production-imports-no-tests': {
    'src/app/planted-test.ts': `import '../../test/support/planted-files.ts';`,
  },
  'production-imports-no-dev-packages': {
    'src/app/planted-dev-package.ts': `import 'fast-check';`,
  },
  'packages-are-listed': {
    'src/app/planted-unlisted.ts': `import 'koa-compose';`,
  },
  'imports-resolve': {
    'src/app/planted-nowhere.ts': `import './nowhere.ts';`,
  },
};

/** Correct files that are close to a violation: no rule may report them. */
const allowed = {
  // A cycle is reported once, at the file that comes first.
  'src/adapters/memory/planted-hen.ts': `import './planted-egg.ts';`,
  'test/support/planted-files.ts': `import 'node:fs/promises';`,
  'test/unit/planted-pure.test.ts': `import 'node:crypto'; import '../../src/app/settings/config.ts';`,
  'test/use-cases/planted-stores.test.ts': `import 'node:fs'; import '../../src/adapters/kysely/tables.ts';`,
  'src/app/planted-koa.ts': `import 'koa'; import 'inversify'; import 'kysely';`,
  'src/adapters/kysely/planted-one/second.ts': `export {};`,
  'src/adapters/kysely/planted-other/first.ts': `export {};`,
  'src/adapters/memory/planted-types.ts': `import type { Arbitrary } from 'fast-check';`,
};

interface Report {
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: { name: string } }[];
  };
}

const ruleNames = config.forbidden.map(({ name }) => name);
const isOfFolders = (rule: string) =>
  config.forbidden.some(({ name, scope }) => name === rule && scope === 'folder');
let tree: PlantedTree;
let report: Report;

beforeAll(async () => {
  const copied = ['src', 'db', 'package.json', 'tsconfig.json', '.dependency-cruiser.cjs'];
  const planted = Object.values(violations).flatMap((files) => Object.entries(files));
  tree = await plantTree(copied, { ...allowed, ...Object.fromEntries(planted) });
  const cruise = 'dependency-cruiser/bin/dependency-cruiser.mjs';
  report = (await tree.run(cruise, '--output-type', 'json', 'src', 'db', 'test')) as Report;
});

afterAll(() => tree.remove());

test.each(ruleNames)('the rule %s reports its planted violations and nothing else', (name) => {
  const reported = report.summary.violations.filter(({ rule }) => rule.name === name);
  const places = new Set(reported.map(({ from }) => from));
  const planted = Object.keys(violations[name] ?? {});
  expect([...places].sort()).toEqual((isOfFolders(name) ? planted.map(dirname) : planted).sort());
  expect(places.size).toBeGreaterThan(0);
});

test('every planted violation belongs to a rule that exists', () => {
  expect(Object.keys(violations).sort()).toEqual([...ruleNames].sort());
});
