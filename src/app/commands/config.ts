import type { Command } from 'commander';
import type { Config } from '../settings/config.ts';
import type { SecretsInWords } from '../settings/settings.ts';
import { print, type OutputOptions } from './run-command.ts';

export const configCommands = (program: Command): void => {
  program
    .command('config')
    .description('check the settings')
    .command('check')
    .description('check the settings and show them, without secrets')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const [{ loadConfig }, { redaction, withoutUser }, { startWarnings }] = await Promise.all([
        import('../settings/config.ts'),
        import('../settings/redaction.ts'),
        import('../settings/start-warnings.ts'),
      ]);
      const loaded = loadConfig(process.env);
      const { secretKey, previousSecretKey, databaseUrl, redisUrl, acme, ...config } = loaded;
      const shown = {
        ...config,
        databaseUrl: withoutUser(databaseUrl),
        redisUrl: redisUrl && withoutUser(redisUrl),
        acmeDirectoryUrl: acme?.directoryUrl,
        acmeEmail: acme?.email,
        acmeAccountBinding: acme?.eab?.kid,
        caaIssuer: acme?.issuers,
        secretKey: secretKey === undefined ? 'from the data folder' : 'set',
        previousSecretKey: previousSecretKey === undefined ? undefined : 'set',
      } satisfies SecretsInWords & Record<string, unknown>;
      const warnings = startWarnings(loaded);
      const lines = [
        'The settings are valid.',
        ...Object.entries(shown).map(([name, value]) => `  ${name}: ${show(value)}`),
        ...warnings.map((warning) => `Warning: ${warning}`),
      ];
      const redact = redaction(process.env);
      print(
        options,
        JSON.parse(redact(JSON.stringify({ ...shown, warnings }))),
        redact(lines.join('\n')),
      );
    });
};

const show = (value: Config[Exclude<keyof Config, 'acme'>]): string => {
  if (value === undefined) return '–';
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? value.join(', ') || '–' : String(value);
};
