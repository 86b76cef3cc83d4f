import { existsSync } from 'node:fs';
import { join } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

/** What takes longest by far, so that it is not left over for the end of a run. */
const longest = [
  'system/faults',
  'system/guide',
  'system/custom-domain-authority',
  'system/monitoring',
  'system/attacks',
  'contract/domains/custom-domains',
  'system/processes',
  'dashboard/look',
  'system/backup',
  'system/custom-domain-delegation',
  'dashboard/domain-life',
  'dashboard/open-pages',
  'contract/sites/s3-site-files',
  'system/domain-notices',
  'system/short-lifetimes',
  'system/second-authority',
  'system/custom-domain-crash',
  'system/installed-package',
  'system/webhook-calls',
  'system/planted-changes',
  'system/fuzz',
  'system/custom-domain-dns',
  'system/personal-mails',
  'contract/sites/object-store-cache',
  'system/delivery',
  'contract/domains/edge-records',
  'http/generated-clients',
  'system/fleet',
  'dashboard/hostile-text',
  'system/custom-domain-races',
  'edge/representations',
];

const fileOf = (name) => join(import.meta.dirname, '..', `${name}.test.ts`);
const gone = longest.filter((name) => !existsSync(fileOf(name)));
if (gone.length > 0) throw new Error(`test/runner/longest-first.js names ${gone.join(', ')}`);

const place = ({ path }) =>
  longest.findIndex((name) => path.endsWith(`/test/${name}.test.ts`)) + 1 || longest.length + 1;

/** Jest knows how long the files of an earlier run took; on a fresh checkout there was none. */
export default class LongestFirst extends TestSequencer {
  async sort(tests) {
    const sorted = await super.sort([...tests]);
    return sorted.toSorted((one, other) => place(one) - place(other));
  }
}
