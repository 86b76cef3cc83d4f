import { getDomain } from 'tldts';
import { refuse } from './authority-problem.ts';

/** Of a wildcard, the name below which it is. */
export const baseOf = (name: string): string => name.replace(/^\*\./, '');

const domainOf = (name: string): string | null => getDomain(name, { allowPrivateDomains: true });

/** What somebody registered: the public suffix and one label more. */
export const registeredDomains = (names: readonly string[]): readonly string[] => [
  ...new Set(names.map((name) => domainOf(baseOf(name)) ?? baseOf(name))),
];

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const mostLabels = 10;

/** Boulder, policy.WellFormedIdentifiers and ra.wildcardOverlap. @throws Refused */
export const checkNames = (names: readonly string[]): void => {
  for (const name of names) {
    const labels = baseOf(name).split('.');
    const isWell = labels.every((one) => label.test(one)) && labels.length <= mostLabels;
    if (!isWell || name.length > 253) refuse('malformed', `"${name}": Domain name is malformed`);
    if (domainOf(baseOf(name)) === null) {
      refuse('malformed', `"${name}": Domain name does not end with a valid public suffix (TLD)`);
    }
    const above = name.replace(/^[^.]+/, '*');
    if (above !== name && names.includes(above)) {
      refuse('malformed', `Domain name "${name}" is redundant with a wildcard domain`);
    }
  }
};
