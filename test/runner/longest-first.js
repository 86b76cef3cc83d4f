import TestSequencer from '@jest/test-sequencer';

/** What takes longest by far, so that it is not left over for the end of a run. */
const longest = [
  'system/faults',
  'system/attacks',
  'system/custom-domain-authority',
  'dashboard/look',
  'dashboard/domain-life',
  'system/serve',
  'system/crash',
  'dashboard/hostile-text',
  'http/long-walk',
  'contract/domains/custom-domains',
  'contract/migrations',
  'dashboard/sign-in',
  'dashboard/open-pages',
];

const place = ({ path }) =>
  longest.findIndex((name) => path.endsWith(`/test/${name}.test.ts`)) + 1 || longest.length + 1;

/** Jest knows how long the files of an earlier run took; on a fresh checkout there was none. */
export default class LongestFirst extends TestSequencer {
  async sort(tests) {
    const sorted = await super.sort([...tests]);
    return sorted.toSorted((one, other) => place(one) - place(other));
  }
}
