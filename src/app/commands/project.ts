import type { Command } from 'commander';
import { SitesKey } from '../keys.ts';
import { print, table, withContainer, type OutputOptions } from './run-command.ts';

export const projectCommands = (program: Command): void => {
  const project = program.command('project').description('projects: the sites to publish');

  project
    .command('create')
    .description('start a project')
    .requiredOption('--account <id>', 'id of the account')
    .requiredOption('--name <name>', 'name of the project; its address is made from it')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { account: string; name: string }) => {
      await withContainer(async (container) => {
        const made = await container.get(SitesKey).startProject(options.account, options.name);
        const { id, slug, name } = made;
        print(options, { project: { id, slug, name } }, `Project ${slug} (${id}).`);
      });
    });

  project
    .command('list')
    .description('the projects of an account')
    .requiredOption('--account <id>', 'id of the account')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { account: string }) => {
      await withContainer(async (container) => {
        const projects = await container.get(SitesKey).listProjects(options.account);
        const rows = projects.map(({ id, slug, name }) => [id, slug, name]);
        print(
          options,
          projects.map(({ id, slug, name }) => ({ id, slug, name })),
          table(['ID', 'SLUG', 'NAME'], rows, 'No projects in this account.'),
        );
      });
    });
};
