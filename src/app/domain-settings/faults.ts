import type * as v from 'valibot';

const right: Readonly<Record<string, string>> = {
  domains: 'an object with the keys primary and redirects',
  primary: 'a domain of this project, or null',
  redirects: 'a list of redirects, each with the keys from, to and status',
  from: 'a domain of this project',
  to: 'a domain of this project, or an address such as https://example.com/shop',
  status: '301, 302, 307 or 308',
};

/** One thing that is wrong with a configuration: where, and what would be right there. */
export const faultIn = (issue: v.BaseIssue<unknown>): string => {
  const keys = (issue.path ?? []).map(({ key }) => key);
  const name = keys.findLast((key) => typeof key === 'string');
  const isElement = typeof keys.at(-1) === 'number';
  if (name === undefined) return 'The configuration must be an object with the key domains.';
  const path = pathOf(keys);
  if (issue.expected === 'never') return `${path} is not a known key. ${knownBeside(keys)}`;
  const wanted = isElement ? 'an object with the keys from, to and status' : right[name];
  const seen = issue.received === 'undefined' ? ' is missing. It' : '';
  return `${path}${seen} must be ${wanted ?? 'something else'}.`;
};

/** `domains.redirects[0].to` */
const pathOf = (keys: readonly unknown[]): string =>
  keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${cut(String(key))}`))
    .join('')
    .replace(/^\./, '');

const knownBeside = (keys: readonly unknown[]): string => {
  if (keys.length === 1) return 'The only key is domains.';
  return `The keys are ${keys.length === 2 ? 'primary and redirects' : 'from, to and status'}.`;
};

const cut = (key: string): string => (key.length > 100 ? `${key.slice(0, 100)}…` : key);
