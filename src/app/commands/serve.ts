import type { Command } from 'commander';

export const serveCommand = (program: Command): void => {
  program
    .command('serve')
    .description('run the service')
    .action(async () => (await import('../run-service.ts')).runService());
};
