import type { Finding } from '../doctor/finding.ts';
import type { PlatformSource } from '../doctor/check-platform.ts';
import { ConfigKey, DomainsKey } from '../keys.ts';
import { onDemand } from '../on-demand.ts';
import { command, group, type Answer } from './run-command.ts';

const check = command(
  'say where the certificate for all names of the platform comes from, and what is missing: exit code 0 if there is ' +
    'one and nothing is missing, and 1 otherwise',
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
    return [shown, [inWords[source], ...findings.flatMap(lines)].join('\n')];
  },
);

export const platformCommands = group('platform', "check the platform's own names", { check });

const inWords: Readonly<Record<PlatformSource, string>> = {
  files: 'One certificate for all names, from your files.',
  delegation: 'One certificate for all names, ordered by delegation.',
  hosts: "Each project's host gets a certificate of its own, at most 20 new ones in 7 days.",
};

const lines = ({ state, seen, advice }: Finding): readonly string[] => [
  `${state.padEnd(8)} ${seen}`,
  ...(advice === undefined ? [] : [`${' '.repeat(9)}${advice}`]),
];
