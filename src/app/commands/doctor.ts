import type { Command } from 'commander';
import type { Checked } from '../doctor/examine.ts';
import { onDemand } from '../on-demand.ts';
import { loadConfig } from '../settings/config.ts';
import { redaction } from '../settings/redaction.ts';
import { print, type OutputOptions } from './run-command.ts';

export const doctorCommand = (program: Command): void => {
  program
    .command('doctor')
    .description(
      'try everything the service needs: database, Redis, DNS, certificate authority, mail server, ports, storage and clock; ' +
        'says what is wrong and what to do',
    )
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const { examine } = await onDemand.doctor();
      printChecks(options, await examine(loadConfig(process.env)));
    });
};

/** Without secrets. If one failed, so did the command. */
export const printChecks = (options: OutputOptions, checks: readonly Checked[]): void => {
  const failures = checks.filter(({ state }) => state === 'failed').length;
  const redact = redaction(process.env);
  const summary =
    failures === 0
      ? 'All checks passed.'
      : `${String(failures)} ${failures === 1 ? 'check' : 'checks'} failed.`;
  print(
    options,
    JSON.parse(redact(JSON.stringify({ ok: failures === 0, checks }))),
    redact([...checks.flatMap(inWords), summary].join('\n')),
  );
  if (failures > 0) process.exitCode = 1;
};

const inWords = ({ check, state, seen, advice }: Checked): readonly string[] => [
  `${state.padEnd(8)} ${check.padEnd(10)} ${seen}`,
  ...(advice === undefined ? [] : [`${' '.repeat(20)}${advice}`]),
];
