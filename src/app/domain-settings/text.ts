import * as v from 'valibot';
import { stringify } from 'yaml';
import type { DomainsErrorCode } from '../../domains/domain/domains-error.ts';
import type { DomainSettingsDraft } from '../../domains/domain/redirects/redirects.ts';
import type { DomainSettingsDocument } from '../../domains/domain/redirects/settings.ts';
import { DomainError } from '../../kernel/decision.ts';
import { NotPlainYaml, parsePlainYaml } from './plain-yaml.ts';

export type DomainSettingsFormat = 'yaml' | 'json';

const shape = v.strictObject({
  domains: v.strictObject({
    primary: v.nullish(v.string()),
    redirects: v.optional(
      v.array(v.strictObject({ from: v.string(), to: v.string(), status: v.optional(v.number()) })),
      [],
    ),
  }),
});

export const writeDomainSettings = (
  document: DomainSettingsDocument,
  format: DomainSettingsFormat,
): string => (format === 'yaml' ? stringify(document) : `${JSON.stringify(document, null, 2)}\n`);

/** Reads settings in YAML or JSON, which is valid YAML. @throws DomainError `redirect_invalid` that locates the fault */
export const readDomainSettings = (text: string): DomainSettingsDraft => {
  if (text.length > longestSettings || Buffer.byteLength(text) > longestSettings) {
    throw refusal(`A configuration has at most ${longestSettings / 1024} KiB.`);
  }
  const result = v.safeParse(shape, parseYaml(text));
  if (result.success) return result.output.domains;
  const faults = result.issues.slice(0, mostFaults).map(faultIn);
  const more = result.issues.length - faults.length;
  throw refusal([...faults, ...(more > 0 ? [`And ${more} more.`] : [])].join('\n'));
};

/** The limit in bytes is enough for about two hundred redirects. It exists because parsing blocks the thread. */
export const longestSettings = 16 * 1024;

const parseYaml = (text: string): unknown => {
  try {
    return parsePlainYaml(text);
  } catch (error) {
    if (!(error instanceof NotPlainYaml)) throw error;
    const { message: why } = error;
    const cut = why.length > 500 ? `${why.slice(0, 500)} …` : why;
    throw refusal(`This is neither plain YAML nor JSON: ${cut}`);
  }
};

const mostFaults = 5;

const refusal = (message: string): DomainError<DomainsErrorCode> =>
  new DomainError('redirect_invalid', message);

const right: Readonly<Record<string, string>> = {
  domains: 'an object with the keys primary and redirects',
  primary: 'a domain of this project, or null',
  redirects: 'a list of redirects, each with the keys from, to and status',
  from: 'a domain of this project',
  to: 'a domain of this project, or an address such as https://example.com/shop',
  status: '301, 302, 307 or 308',
};

const faultIn = (issue: v.BaseIssue<unknown>): string => {
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
