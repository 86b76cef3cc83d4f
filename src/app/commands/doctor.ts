import { counted } from '../../kernel/text.ts';
import type { Checked } from '../doctor/examine.ts';
import { onDemand } from '../on-demand.ts';
import { redaction, shownSettings } from '../settings/redaction.ts';
import type { Finding } from '../doctor/finding.ts';
import type { Config } from '../settings/settings.ts';
import { startWarnings } from '../settings/start-warnings.ts';
import type { PlatformSource } from '../doctor/check-platform.ts';
import { ConfigKey, DomainsKey } from '../keys.ts';
import { command, commandOfSettings, group, type Answer, type Define } from './run-command.ts';

const doctor = commandOfSettings(
  'test everything that the service needs: database, Redis, DNS, certificate authority, mail server, ports, storage ' +
    'and clock; says what is wrong and what to do',
  [],
  async (config) => answerOf(await (await onDemand.doctor()).examine(config)),
);

export const doctorCommand: Define = (program) => {
  doctor(program.command('doctor'));
};

export const answerOf = (checks: readonly Checked[]): Answer => {
  const failures = checks.filter(({ state }) => state === 'failed').length;
  const redact = redaction(process.env);
  const summary = failures === 0 ? 'All checks passed.' : `${counted(failures, 'check')} failed.`;
  if (failures > 0) process.exitCode = 1;
  return [
    JSON.parse(redact(JSON.stringify({ ok: failures === 0, checks }))),
    redact([...checks.flatMap(checkInWords), summary].join('\n')),
  ];
};

const checkInWords = ({ check, state, seen, advice }: Checked): readonly string[] => [
  `${state.padEnd(8)} ${check.padEnd(10)} ${seen}`,
  ...(advice === undefined ? [] : [`${' '.repeat(20)}${advice}`]),
];

const checkSettings = commandOfSettings(
  'check the settings, the certificate files and the mail server, and show the settings without secrets',
  [],
  async (config) => {
    const settings = shownSettings(config);
    const warnings = startWarnings(config, process.env);
    const checks = await tried(config);
    const lines = [
      'The settings are valid.',
      ...Object.entries(settings).map(([name, value]) => `  ${name}: ${settingInWords(value)}`),
      ...warnings.map((warning) => `Warning: ${warning}`),
      ...checks.map(({ of, seen, advice = '' }) => `${of}: ${seen} ${advice}`.trimEnd()),
    ];
    if (checks.some(({ state }) => state === 'failed')) process.exitCode = 1;
    const redact = redaction(process.env);
    return [
      JSON.parse(redact(JSON.stringify({ settings, warnings, checks }))),
      redact(lines.join('\n')),
    ];
  },
);

export const configCommands = group('config', 'check the settings', { check: checkSettings });

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

const settingInWords = (value: unknown): string => {
  if (value === undefined) return '–';
  if (Array.isArray(value)) return value.join(', ') || '–';
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const checkPlatform = command(
  'show where the certificate for all names of the platform comes from, and what is missing; exit code 1 if anything is',
  [],
  async (container): Promise<Answer> => {
    const config = container.get(ConfigKey);
    const { given, ordered } = await onDemand.doctor();
    const { source, findings, validUntil } =
      config.platformCertificateFile === undefined
        ? ordered(await container.get(DomainsKey).checkPlatform())
        : await given(config);
    const isOk = findings.every(({ state }) => state === 'ok');
    if (!isOk) process.exitCode = 1;
    const shown = { ok: isOk, source, validUntil: validUntil ?? null, checks: findings };
    return [shown, [sourceInWords[source], ...findings.flatMap(findingInWords)].join('\n')];
  },
);

export const platformCommands = group('platform', "check the platform's own names", {
  check: checkPlatform,
});

const sourceInWords: Readonly<Record<PlatformSource, string>> = {
  files: 'One certificate for all names, from your files.',
  delegation: 'One certificate for all names, ordered by delegation.',
  hosts: "Each project's host gets its own certificate, at most 20 new ones in 7 days.",
};

const findingInWords = ({ state, seen, advice }: Finding): readonly string[] => [
  `${state.padEnd(8)} ${seen}`,
  ...(advice === undefined ? [] : [`${' '.repeat(9)}${advice}`]),
];
