import type { Command } from 'commander';
import type { Finding } from '../doctor/finding.ts';
import { onDemand } from '../on-demand.ts';
import { loadConfig } from '../settings/config.ts';
import type { Config } from '../settings/settings.ts';
import { redaction, shownSettings } from '../settings/redaction.ts';
import { startWarnings } from '../settings/start-warnings.ts';
import { print, type OutputOptions } from './run-command.ts';

export const configCommands = (program: Command): void => {
  program
    .command('config')
    .description('check the settings')
    .command('check')
    .description(
      'check the settings and the certificate files, try the mail server, and show the settings without secrets',
    )
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const config = loadConfig(process.env);
      const shown = shownSettings(config);
      const warnings = startWarnings(config, process.env);
      const found = await tried(config);
      const lines = [
        'The settings are valid.',
        ...Object.entries(shown).map(([name, value]) => `  ${name}: ${inWords(value)}`),
        ...warnings.map((warning) => `Warning: ${warning}`),
        ...found.map(({ of, seen, advice = '' }) => `${of}: ${seen} ${advice}`.trimEnd()),
      ];
      const redact = redaction(process.env);
      print(
        options,
        JSON.parse(redact(JSON.stringify({ settings: shown, warnings, checks: found }))),
        redact(lines.join('\n')),
      );
      if (found.some(({ state }) => state === 'failed')) process.exitCode = 1;
    });
};

/** What `serve` would refuse beside the settings themselves, and the mail server. */
const tried = async (config: Config): Promise<readonly (Finding & { readonly of: string })[]> => {
  const files = config.roles.includes('edge') && config.platformCertificateFile !== undefined;
  const { given, checkMail } = await onDemand.doctor();
  const certificate = files ? (await given(config)).findings : [];
  const mail = config.smtpUrl === undefined ? [] : await checkMail(config);
  return [
    ...certificate.map((finding) => ({ of: 'Certificate', ...finding })),
    ...mail.map((finding) => ({ of: 'Mail server', ...finding })),
  ];
};

const inWords = (value: unknown): string => {
  if (value === undefined) return '–';
  if (Array.isArray(value)) return value.join(', ') || '–';
  // As it is written in the setting.
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'string' ? value : JSON.stringify(value);
};
