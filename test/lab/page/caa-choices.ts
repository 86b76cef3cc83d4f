import { labIssuer } from '../authority/pebble-lab.ts';
import { secondIssuer } from '../domain-lab.ts';
import type { Records } from '../dns/zone.ts';

interface CaaChoice {
  readonly label: string;
  readonly records: NonNullable<Records['CAA']>;
}

const issue = (value: string) => ({ tag: 'issue', value });
const issuewild = (value: string) => ({ tag: 'issuewild', value });

/** What a person can say with CAA records in the lab, beside what a zone file says. */
export const caaChoices = {
  none: { label: 'No CAA record', records: [] },
  first: { label: 'Only the first authority', records: [issue(labIssuer)] },
  second: { label: 'Only the second authority', records: [issue(secondIssuer)] },
  nobody: { label: 'No authority', records: [issue(';')] },
  dns: { label: 'Only by DNS', records: [issue(`${labIssuer}; validationmethods=dns-01`)] },
  plain: { label: 'No wildcard', records: [issue(labIssuer), issuewild(';')] },
  wild: { label: 'Only wildcards', records: [issue(';'), issuewild(labIssuer)] },
  shared: {
    label: 'Wildcards by the second authority, others by the first',
    records: [issue(labIssuer), issuewild(secondIssuer)],
  },
} as const satisfies Readonly<Record<string, CaaChoice>>;

type CaaChoiceName = keyof typeof caaChoices;

/** @returns undefined where a zone file says something else */
export const caaChoiceOf = (records: Records['CAA'] = []): CaaChoiceName | undefined => {
  const same = Object.entries(caaChoices).find(
    ([, choice]) => wordsOf(choice.records) === wordsOf(records),
  );
  return same?.[0] as CaaChoiceName | undefined;
};

const wordsOf = (records: NonNullable<Records['CAA']>): string =>
  records.map((one) => ('tag' in one ? `${one.tag} ${one.value}` : '?')).join();
