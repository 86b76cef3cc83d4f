import type { Command } from 'commander';
import type { Config } from '../settings/config.ts';
import type { SecretsInWords } from '../settings/settings.ts';
import { print, type OutputOptions } from './run-command.ts';

export const configCommands = (program: Command): void => {
  program
    .command('config')
    .description('check the settings')
    .command('check')
    .description('check the settings, try the mail server, and show the settings without secrets')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const [{ loadConfig }, { redaction, withoutUser }, { startWarnings }, { checkMail }] =
        await Promise.all([
          import('../settings/config.ts'),
          import('../settings/redaction.ts'),
          import('../settings/start-warnings.ts'),
          import('../doctor/check-mail.ts'),
        ]);
      const loaded = loadConfig(process.env);
      const { secretKey, previousSecretKey, databaseUrl, redisUrl, smtpUrl, ...others } = loaded;
      const { acme, acmeFallback, ...config } = others;
      const shown = {
        ...config,
        databaseUrl: withoutUser(databaseUrl),
        redisUrl: redisUrl && withoutUser(redisUrl),
        smtpUrl: smtpUrl && withoutUser(smtpUrl),
        acmeDirectoryUrl: acme?.directoryUrl,
        acmeEmail: acme?.email,
        acmeAccountBinding: acme?.eab?.kid,
        acmeProfile: acme?.profile,
        caaIssuer: acme?.issuers,
        acmeFallbackDirectoryUrl: acmeFallback?.directoryUrl,
        acmeFallbackEmail: acmeFallback?.email,
        acmeFallbackAccountBinding: acmeFallback?.eab?.kid,
        caaFallbackIssuer: acmeFallback?.issuers,
        secretKey: secretKey === undefined ? 'from the data folder' : 'set',
        previousSecretKey: previousSecretKey === undefined ? undefined : 'set',
        otelExporterOtlpHeaders: config.otelExporterOtlpHeaders === undefined ? undefined : 'set',
      } satisfies SecretsInWords & Record<string, unknown>;
      const warnings = startWarnings(loaded);
      const mailServer = smtpUrl === undefined ? [] : await checkMail(loaded);
      const lines = [
        'The settings are valid.',
        ...Object.entries(shown).map(([name, value]) => `  ${name}: ${show(value)}`),
        ...warnings.map((warning) => `Warning: ${warning}`),
        ...mailServer.map(({ seen, advice = '' }) => `Mail server: ${seen} ${advice}`.trimEnd()),
      ];
      const redact = redaction(process.env);
      print(
        options,
        JSON.parse(redact(JSON.stringify({ ...shown, warnings, mailServer }))),
        redact(lines.join('\n')),
      );
      if (mailServer.some(({ state }) => state === 'failed')) process.exitCode = 1;
    });
};

const show = (value: Config[Exclude<keyof Config, 'acme' | 'acmeFallback'>]): string => {
  if (value === undefined) return '–';
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? value.join(', ') || '–' : String(value);
};
