import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import TestSequencer from '@jest/test-sequencer';
import { seededRandom } from '../support/seeded-random.ts';

/** The slowest files, so that they do not run last. Without times of an earlier run, Jest begins with the largest files. */
const longest = [
  'release/faults',
  'release/guide',
  'release/monitoring',
  'release/attacks',
  'system/simulation',
  'contract/domains/custom-domains',
  'release/processes',
  'release/dashboard/look',
  'release/backup',
  'release/dashboard/lab-by-clicking',
  'release/dashboard/firefox',
  'dashboard/new-owner',
  'system/serve',
  'dashboard/in-a-browser',
  'http/deadline',
  'release/dashboard/open-pages',
  'contract/sites/s3-site-files',
  'release/installed-package',
  'system/custom-domains',
  'system/planted-changes',
  'release/fuzz',
  'contract/sites/object-store-cache',
  'system/object-store',
  'contract/domains/edge-records',
  'release/generated-clients',
  'release/dashboard/hostile-text',
  'edge/representations',
  'contract/access/passwords',
  'system/processes',
  'contract/alerts',
  'contract/slow-texts',
  'system/safe-start',
  'contract/sites/site-unpacking',
  'contract/sites/site-files',
  'dashboard/script-free',
  'system/planted-faults',
  'system/fleet',
];

const fileOf = (name) => join(import.meta.dirname, '..', `${name}.test.ts`);
const gone = longest.filter((name) => !existsSync(fileOf(name)));
if (gone.length > 0) throw new Error(`test/runner/file-order.js names ${gone.join(', ')}`);

const place = ({ path }) =>
  longest.findIndex((name) => path.endsWith(`/test/${name}.test.ts`)) + 1 || longest.length + 1;

/**
 * The slowest files first; with SEED=random or SEED=n in random order, since no file may depend on another.
 */
export default class FileOrder extends TestSequencer {
  async sort(tests) {
    const { SEED: wish } = process.env;
    if (wish) return shuffled(tests, wish === 'random' ? randomInt(1_000_000) : Number(wish));
    // Jest knows how long each file took in an earlier run; a fresh checkout has none.
    const sorted = await super.sort([...tests]);
    return sorted.toSorted((one, other) => place(one) - place(other));
  }
}

const shuffled = (tests, seed) => {
  process.stderr.write(`The files run in the order of SEED=${seed}\n`);
  const random = seededRandom(seed);
  return tests
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
    .map((test) => ({ test, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ test }) => test);
};
