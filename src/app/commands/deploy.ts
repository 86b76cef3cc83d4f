import { stat } from 'node:fs/promises';
import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import { archiveSource } from '../../adapters/archives/open-upload.ts';
import type { EveryField } from '../../kernel/decision.ts';
import { bytesInWords } from '../../kernel/text.ts';
import type { Deploy } from '../../sites/domain/site.ts';
import type { UploadProgress } from '../../sites/ports.ts';
import { SitesKey } from '../keys.ts';
import { SiteAddresses } from '../site-addresses.ts';
import { type OutputOptions, print, withContainer } from './run-command.ts';

export const deployCommand = (program: Command): void => {
  program
    .command('deploy')
    .description('publish a folder or an archive as the site of a project')
    .argument('<source>', 'a folder, or a .zip, .tar.gz or .tgz')
    .requiredOption('--project <slug>', 'slug of the project')
    .option('--json', 'print JSON')
    .action(async (path: string, options: OutputOptions & { project: string }) => {
      await checkPlace(path);
      await withContainer(async (container) => {
        const sites = container.get(SitesKey);
        const { project } = await sites.getSite(options.project);
        const progress = options.json ? undefined : progressBar();
        const deploy = await sites.deploySite(project, path, progress?.show).finally(() => {
          progress?.stop();
        });
        const url = (await container.get(SiteAddresses).recall()).urlOf(project.slug);
        print(options, { deploy: presentDeploy(deploy), url }, describe(deploy, url));
        if (deploy.state === 'failed') process.exitCode = 1;
      });
    });
};

export const presentDeploy = (deploy: Deploy) => {
  const { id, number, state: status, startedAt } = deploy;
  const shared = { id, number, status, startedAt };
  switch (deploy.state) {
    case 'uploading':
      return shared satisfies Presented<typeof deploy>;
    case 'succeeded': {
      const { files, bytes, finishedAt } = deploy;
      return { ...shared, files, bytes, finishedAt } satisfies Presented<typeof deploy>;
    }
    case 'failed': {
      const { problem, explanation, finishedAt } = deploy;
      return { ...shared, problem, explanation, finishedAt } satisfies Presented<typeof deploy>;
    }
  }
};

type Presented<Some extends Deploy> = Omit<EveryField<Some & { status: unknown }>, 'state'>;

/** A mistyped name makes no failed deploy. @throws Error, DomainError that say what is wrong with it */
const checkPlace = async (path: string): Promise<void> => {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return;
  if (!found?.isFile()) {
    throw new Error(`${path}: No such file or folder.`);
  }
  await archiveSource(path);
};

const describe = (deploy: Deploy, url: string): string => {
  const name = `Deploy ${String(deploy.number)}`;
  switch (deploy.state) {
    case 'uploading':
      return `${name} is not finished yet.`;
    case 'succeeded':
      return `${name}: ${counted(deploy.files)}, ${bytesInWords(deploy.bytes)}.\n${url}`;
    case 'failed':
      return `${name} was refused (${deploy.problem}). ${deploy.explanation}\nWhat visitors see does not change.`;
  }
};

const counted = (files: number): string => (files === 1 ? '1 file' : `${String(files)} files`);

const words = { unpacking: 'reading', preparing: 'compressing', storing: 'storing' } as const;

/** On a terminal only, and on standard error, so that the result can be piped. */
const progressBar = () => {
  const bar = new SingleBar({
    format: '{step} [{bar}] {value}{of} files',
    stream: process.stderr,
    noTTYOutput: false,
    hideCursor: true,
    clearOnComplete: true,
  });
  bar.start(1, 0, { step: words.unpacking, of: '' });
  return {
    show: ({ step, done, total }: UploadProgress): void => {
      bar.setTotal(total ?? done);
      bar.update(done, {
        step: words[step],
        of: total === undefined ? '' : ` of ${String(total)}`,
      });
    },
    stop: (): void => {
      bar.stop();
    },
  };
};
