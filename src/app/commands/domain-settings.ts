import { open } from 'node:fs/promises';
import { Option } from 'commander';
import { beginningOf } from '../../kernel/connections.ts';
import { DomainError } from '../../kernel/domain-error.ts';
import type { DomainSettingsDraft } from '../../domains/domain/redirects/redirects.ts';
import {
  longestSettings,
  readDomainSettings,
  writeDomainSettings,
  type DomainSettingsFormat,
} from '../domain-settings/text.ts';
import { DomainsKey, SitesKey } from '../keys.ts';
import { ofProject, withContainer, type Define } from './run-command.ts';

interface ConfigOptions {
  readonly project: string;
  readonly format: DomainSettingsFormat;
}

/** The primary domain and redirects of a project as one document. */
export const domainConfig: Define = (command) => {
  command
    .description('print the primary domain and redirects of a project, or replace them')
    .argument('[file]', 'file with the new settings, as YAML or JSON; - for standard input')
    .addOption(ofProject)
    .addOption(
      new Option('--format <format>', 'output format').choices(['yaml', 'json']).default('yaml'),
    )
    .action(async (file: string | undefined, options: ConfigOptions) => {
      const draft = file === undefined ? undefined : await readSettings(file);
      await withContainer(async (container) => {
        const sites = container.get(SitesKey);
        const domains = container.get(DomainsKey);
        const { id } = (await sites.getSite(options.project)).project;
        const view = draft
          ? await domains.changeDomainSettings(id, draft)
          : await domains.showDomainSettings(id);
        process.stdout.write(writeDomainSettings(view.document, options.format));
        for (const [from, reason] of Object.entries(view.suspended)) {
          process.stderr.write(`${from}: ${reason}\n`);
        }
      });
    });
};

/** @throws Error that says what is wrong where */
const readSettings = async (file: string): Promise<DomainSettingsDraft> => {
  const text = await textIn(file === '-' ? '/dev/stdin' : file, longestSettings).catch(
    (cause: unknown) => {
      const { code = 'unknown' } = cause as NodeJS.ErrnoException;
      const wanted = 'give a YAML or JSON file with the settings, or - for standard input';
      throw new Error(`${file} cannot be read (${code}); ${wanted}.`, { cause });
    },
  );
  try {
    return readDomainSettings(text);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new Error(`${file}: ${(error as DomainError).message}`, { cause: error });
  }
};

const textIn = async (path: string, longest: number): Promise<string> => {
  const file = await open(path);
  return (await beginningOf(file.createReadStream(), longest)).toString();
};
