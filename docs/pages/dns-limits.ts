import { mostOfKind, mostOfRemoved } from '../../src/domains/domain/attachment/timeline-entries.ts';
import { largestAnswer, shownAtMost } from '../../src/domains/domain/dns/facts.ts';
import { mostKeptBytes } from '../../src/domains/domain/dns/judgement.ts';

/** What is read, kept and shown of the DNS of a domain. */
export const dnsNumbers = (): readonly (readonly string[])[] => [
  [
    'one answer, as evaluated',
    `${String(largestAnswer.records)} records, ${String(largestAnswer.characters)} characters`,
  ],
  [
    'one answer, as kept and shown',
    `the first ${String(shownAtMost.records)} records, ${String(shownAtMost.characters)} characters of each`,
  ],
  ['all answers of one check, as kept', `${String(mostKeptBytes / 1024)} KiB`],
  ['checks in a timeline', `the newest ${String(mostOfKind.checked)}`],
  ['attempts in a timeline', `the newest ${String(mostOfKind.attempt)}`],
  ['checks, and attempts, of a removed domain', `the newest ${String(mostOfRemoved)}`],
];
