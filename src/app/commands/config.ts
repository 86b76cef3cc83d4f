import type { Command } from 'commander';
import { loadConfig, type Config } from '../config.ts';
import { print, type OutputOptions } from './run-command.ts';

export const configCommands = (program: Command): void => {
  program
    .command('config')
    .description('the settings of this process')
    .command('check')
    .description('check the settings and show them, without secrets')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) => {
      const { secretKey, databaseUrl, redisUrl, acme, ...config } = loadConfig(process.env);
      const shown = {
        ...config,
        databaseUrl: withoutPassword(databaseUrl),
        redisUrl: redisUrl && withoutPassword(redisUrl),
        acmeDirectoryUrl: acme?.directoryUrl,
        acmeEmail: acme?.email,
        acmeAccountBinding: acme?.eab?.kid,
        caaIssuer: acme?.issuers,
        secretKey: secretKey === undefined ? 'from the data folder' : 'set',
      };
      const lines = Object.entries(shown).map(([name, value]) => `  ${name}: ${show(value)}`);
      print(options, shown, `The settings are in order.\n${lines.join('\n')}`);
    });
};

const withoutPassword = (url: string): string => url.replace(/\/\/.*@/, '//…@');

const show = (value: Config[Exclude<keyof Config, 'acme'>]): string => {
  if (value === undefined) return '–';
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? value.join(', ') || '–' : String(value);
};
