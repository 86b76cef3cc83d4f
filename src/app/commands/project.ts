import { InvalidArgumentError, type Command } from 'commander';
import type { EveryField } from '../../kernel/every-field.ts';
import { bytesInWords } from '../../kernel/in-words.ts';
import type { Deploy } from '../../sites/domain/deploy.ts';
import { slugOf, type Project } from '../../sites/domain/project.ts';
import { isReservedSlug } from '../../sites/domain/reserved-slugs.ts';
import { SitesKey } from '../keys.ts';
import { SiteAddresses } from '../site-addresses.ts';
import { commandName } from '../command-name.ts';
import { presentDeploy, size } from './deploy.ts';
import { print, table, withContainer, type OutputOptions } from './run-command.ts';

export const projectCommands = (program: Command): void => {
  const project = program.command('project').description('create and list projects');

  project
    .command('create')
    .description('create a project')
    .requiredOption('--account <id>', 'id of the account')
    .requiredOption('--name <name>', 'name of the project; its address is made from it')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { account: string; name: string }) => {
      await withContainer(async (container) => {
        const made = await container.get(SitesKey).startProject(options.account, options.name);
        const { id, slug, name } = made;
        const reason = isReservedSlug(slugOf(name))
          ? `\nThe address ends in a number because "${slugOf(name)}" is reserved.`
          : '';
        print(
          options,
          { project: presentProject(made) },
          `Project ${slug} (${id}). Publish it: ${commandName()} deploy FOLDER --project ${slug}${reason}`,
        );
      });
    });

  project
    .command('list')
    .description('list the projects of an account')
    .requiredOption('--account <id>', 'id of the account')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { account: string }) => {
      await withContainer(async (container) => {
        const found = await container.get(SitesKey).listProjects(options.account);
        const projects = found.map(presentProject);
        print(
          options,
          projects,
          table(
            ['ID', 'SLUG', 'NAME'],
            projects.map((one) => Object.values(one)),
            'No projects in this account.',
          ),
        );
      });
    });

  project
    .command('deploys')
    .description('list the deploys of a project, newest first')
    .requiredOption('--project <slug>', 'slug of the project')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { project: string }) => {
      await withContainer(async (container) => {
        const { deploys, servedDeployId } = await container.get(SitesKey).getSite(options.project);
        const rows = deploys.map((deploy) => columnsOf(deploy, deploy.id === servedDeployId));
        print(
          options,
          deploys.map((deploy) => ({
            ...presentDeploy(deploy),
            served: deploy.id === servedDeployId,
          })),
          table(
            ['DEPLOY', 'STATE', 'STARTED', 'FILES', 'SIZE', 'PROBLEM'],
            rows,
            'No deploys yet.',
          ),
        );
      });
    });

  project
    .command('roll-back')
    .description('serve an older deploy again')
    .requiredOption('--project <slug>', 'slug of the project')
    .requiredOption('--to <number>', 'number of the deploy', deployNumber)
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { project: string; to: number }) => {
      await withContainer(async (container) => {
        const sites = container.get(SitesKey);
        const { project: found } = await sites.getSite(options.project);
        const site = await sites.rollBack(found, options.to);
        const served = site.deploys.find(({ id }) => id === site.servedDeployId);
        const url = (await container.get(SiteAddresses).recall()).urlOf(found.slug);
        print(
          options,
          { deploy: served && presentDeploy(served), url },
          `${found.slug} serves deploy ${String(options.to)}.\n${url}`,
        );
      });
    });

  project
    .command('delete-deploy')
    .description('delete a deploy that is not being served, with its files, to free space')
    .requiredOption('--project <slug>', 'slug of the project')
    .requiredOption('--number <number>', 'number of the deploy', deployNumber)
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { project: string; number: number }) => {
      await withContainer(async (container) => {
        const sites = container.get(SitesKey);
        const { project: found } = await sites.getSite(options.project);
        await sites.deleteDeploy(found, options.number);
        const { storedBytes, allowance } = await sites.showUse(found.accountId);
        const kept = `${bytesInWords(storedBytes)} of ${bytesInWords(allowance.storedBytes)}`;
        print(
          options,
          { deleted: options.number, storedBytes, ofBytes: allowance.storedBytes },
          `Deploy ${String(options.number)} of ${found.slug} is deleted. The account now uses ${kept}.`,
        );
      });
    });
};

const presentProject = ({ id, slug, name }: Project) =>
  ({ id, slug, name }) satisfies Omit<EveryField<Project>, 'accountId' | 'createdAt'>;

const columnsOf = (deploy: Deploy, isServed: boolean) =>
  Object.values({
    number: String(deploy.number),
    state: isServed ? 'served' : deploy.state,
    startedAt: deploy.startedAt.toISOString(),
    files: deploy.state === 'succeeded' ? String(deploy.files) : '',
    bytes: deploy.state === 'succeeded' ? size(deploy.bytes) : '',
    explanation: deploy.state === 'failed' ? deploy.explanation : '',
  } satisfies Omit<EveryField<Deploy>, 'id' | 'finishedAt' | 'problem'>);

const deployNumber = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Use a whole number from 1.');
  return Number(text);
};
