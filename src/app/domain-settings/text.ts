import * as v from 'valibot';
import { stringify } from 'yaml';
import { DomainError } from '../../kernel/domain-error.ts';
import type { DomainSettingsDocument } from '../../domains/domain/redirects/settings.ts';
import type { DomainSettingsDraft } from '../../domains/domain/redirects/redirects.ts';
import type { DomainsErrorCode } from '../../domains/domain/domains-error.ts';
import { faultIn } from './faults.ts';
import { NotPlainYaml, parsePlainYaml } from './plain-yaml.ts';

export type DomainSettingsFormat = 'yaml' | 'json';

/** Reads back exactly what an export writes. */
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

/** JSON is YAML too. @throws DomainError `redirect_invalid` that says what is wrong where */
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

/** Bytes: some two hundred redirects. Parsing blocks the thread. */
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

/** Most faults shown to the author. */
const mostFaults = 5;

const refusal = (message: string): DomainError<DomainsErrorCode> =>
  new DomainError('redirect_invalid', message);
