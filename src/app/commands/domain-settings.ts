import { open } from 'node:fs/promises';
import { Option, Argument } from 'commander';
import type { Container } from 'inversify';
import { beginningOf } from '../../kernel/incoming.ts';
import { DomainError, type EveryField } from '../../kernel/decision.ts';
import type { DomainSettingsDraft } from '../../domains/domain/redirects/redirects.ts';
import { nameInText } from '../../domains/domain/names/hostname.ts';
import {
  longestSettings,
  readDomainSettings,
  writeDomainSettings,
  type DomainSettingsFormat,
} from '../domain-settings/text.ts';
import { DomainsKey, SitesKey, ConfigKey } from '../keys.ts';
import { shareDays, type DomainShare } from '../../domains/domain/attachment/share.ts';
import type { CustomDomain } from '../../domains/domain/attachment/custom-domain.ts';
import type { MadeShare } from '../../domains/use-cases/show-domain.ts';
import { sharedPath } from '../../adapters/dashboard/frame/paths.ts';
import { dashboardOrigin } from '../settings/addresses.ts';
import {
  ofProject,
  withContainer,
  type Define,
  command,
  option,
  type Answer,
  table,
} from './run-command.ts';

interface ConfigOptions {
  readonly project: string;
  readonly format: DomainSettingsFormat;
}

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

interface PrimaryGiven {
  readonly host?: string;
  readonly project: string;
  readonly none?: boolean;
}

const choose = command(
  'print the primary domain of a project, or choose it',
  [
    new Argument('[host]', 'the domain that becomes the primary one'),
    ofProject,
    option('--none', 'let the project have no primary domain'),
  ],
  async (container, { host, project: slug, none }: PrimaryGiven): Promise<Answer> => {
    const domains = container.get(DomainsKey);
    const { id } = (await container.get(SitesKey).getSite(slug)).project;
    const chosen = none ? null : host;
    const { document, isPrimaryOpen } =
      chosen === undefined
        ? await domains.showDomainSettings(id)
        : await domains.choosePrimary(id, chosen);
    const primary = document.domains.primary ?? null;
    return [{ primary }, primaryInWords(primary, isPrimaryOpen)];
  },
);

export const domainPrimary: Define = (defined) => {
  choose(defined);
  defined.hook('preAction', () => {
    const [host] = defined.args;
    // An unset shell variable gives an empty name, which would choose none.
    if (host === '') defined.error('error: the domain is empty; use --none for no primary domain');
    if (host !== undefined && defined.opts<PrimaryGiven>().none === true) {
      defined.error('error: give a domain or --none, not both');
    }
  });
};

const primaryInWords = (primary: string | null, isOpen: boolean): string => {
  if (primary !== null) return primary;
  return isOpen
    ? 'None yet: the first domain that goes live becomes the primary one.'
    : 'None, by choice: no domain becomes the primary one automatically.';
};

interface ShareGiven {
  readonly host: string;
  readonly project: string;
  readonly list?: boolean;
  readonly end?: string;
}

export const domainShare = command(
  `create a link to the DNS records and state of a domain, for somebody without an account; it works for ${String(shareDays)} days and is shown once`,
  [
    new Argument('<host>', 'the domain'),
    ofProject,
    option('--list', 'list the working links instead').conflicts('end'),
    option('--end <id>', 'end a link instead'),
  ],
  async (container, given: ShareGiven): Promise<Answer> => {
    const domains = container.get(DomainsKey);
    const { project } = await container.get(SitesKey).getSite(given.project);
    const domain = await domains.getDomain(project.id, given.host);
    if (given.list) return listed(await domains.listShares(domain));
    if (given.end !== undefined) return end(container, domain, given.end);
    return made(container, domain, await domains.makeShare(domain));
  },
);

const made = (container: Container, domain: CustomDomain, share: MadeShare): Answer => {
  const url = `${dashboardOrigin(container.get(ConfigKey))}${sharedPath(share.secret)}`;
  return [
    { ...presentShare(share), url },
    `Link ${share.id} to the records and state of ${nameInText(domain)}, shown this once; it works until ${share.endsAt.toISOString()}:\n  ${url}`,
  ];
};

const end = async (container: Container, domain: CustomDomain, id: string): Promise<Answer> => {
  const domains = container.get(DomainsKey);
  const ended = (await domains.listShares(domain)).find((one) => one.id === id);
  if (!ended) throw new Error(`${nameInText(domain)} has no link ${id} that works.`);
  await domains.revokeShare(domain, id);
  return [presentShare(ended), `Link ${id} no longer works.`];
};

const listed = (shares: readonly DomainShare[]): Answer => [
  shares.map(presentShare),
  table(
    ['ID', 'MADE', 'WORKS UNTIL'],
    shares.map(({ id, createdAt, endsAt }) => [id, createdAt.toISOString(), endsAt.toISOString()]),
    'There are no working links to this domain.',
  ),
];

const presentShare = ({ id, accountId, domainId, createdAt, endsAt }: DomainShare) =>
  ({ id, accountId, domainId, createdAt, endsAt }) satisfies EveryField<DomainShare>;
