import { readFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import * as v from 'valibot';
import { parse, stringify } from 'yaml';
import type { DomainSettingsDraft } from '../../sites/domain/redirects.ts';
import type { DomainSettingsView } from '../../sites/use-cases/domain-settings.ts';
import { SitesKey } from '../keys.ts';
import { withContainer } from './run-command.ts';

type Format = 'yaml' | 'json';

/** The hosts of a project as a document: which one is the main one, and which lead elsewhere. */
export const addDomainConfig = (domain: Command): void => {
  domain
    .command('config')
    .description('print the primary domain and the redirects of a project, or replace them')
    .argument('[file]', 'YAML or JSON of the same shape to replace them by; - for standard input')
    .requiredOption('--project <slug>', 'slug of the project')
    .addOption(
      new Option('--format <format>', 'how it is printed')
        .choices(['yaml', 'json'])
        .default('yaml'),
    )
    .action(async (file: string | undefined, options: { project: string; format: Format }) => {
      const draft = file === undefined ? undefined : await readSettings(file);
      await withContainer(async (container) => {
        const sites = container.get(SitesKey);
        const { id } = (await sites.getSite(options.project)).project;
        const view = draft
          ? await sites.changeDomainSettings(id, draft)
          : await sites.showDomainSettings(id);
        process.stdout.write(write(view, options.format));
        for (const [from, reason] of Object.entries(view.suspended)) {
          process.stderr.write(`${from}: ${reason}\n`);
        }
      });
    });
};

/** Exactly what is printed can be read again. */
export const domainSettingsSchema = v.strictObject({
  domains: v.strictObject({
    primary: v.nullish(v.string()),
    redirects: v.optional(
      v.array(v.strictObject({ from: v.string(), to: v.string(), status: v.optional(v.number()) })),
      [],
    ),
  }),
});

const write = ({ document }: DomainSettingsView, format: Format): string =>
  format === 'yaml' ? stringify(document) : `${JSON.stringify(document, null, 2)}\n`;

/** JSON is YAML too. @throws Error that says what is wrong where */
const readSettings = async (file: string): Promise<DomainSettingsDraft> => {
  const text = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8');
  const result = v.safeParse(domainSettingsSchema, parseYaml(file, text));
  if (result.success) return result.output.domains;
  const faults = result.issues.map((issue) => `  ${v.getDotPath(issue) ?? ''}: ${issue.message}`);
  throw new Error(
    `${file} has not the shape domains: { primary, redirects: [{ from, to, status }] }:\n${faults.join('\n')}.`,
  );
};

const parseYaml = (file: string, text: string): unknown => {
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch (error) {
    throw new Error(
      `${file} is no YAML and no JSON: ${error instanceof Error ? error.message : ''}`,
      {
        cause: error,
      },
    );
  }
};
