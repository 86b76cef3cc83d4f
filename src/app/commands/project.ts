import { stat } from 'node:fs/promises';
import { Argument, InvalidArgumentError } from 'commander';
import type { Container } from 'inversify';
import type { EveryField } from '../../kernel/decision.ts';
import { bytesInWords, counted } from '../../kernel/text.ts';
import { type Deploy, deployMessage } from '../../sites/domain/site.ts';
import { type Project, slugOf, isReservedSlug } from '../../sites/domain/project.ts';
import { SitesKey } from '../keys.ts';
import { SiteAddresses } from '../settings/addresses.ts';
import { commandName } from '../version.ts';
import { archiveSource } from '../../adapters/archives/open-upload.ts';
import { deployedInWords, deployElsewhere } from './deploy-elsewhere.ts';
import {
  bareCommand,
  command,
  type Answer,
  option,
  withContainer,
  group,
  ofAccount,
  ofProject,
  required,
  table,
  progressOf,
  requireAccount,
  wholeNumber,
  type Define,
  type OutputOptions,
} from './run-command.ts';

const create = command(
  'create a project',
  [ofAccount, required('--name <name>', 'name of the project; its address is derived from it')],
  async (container, given: { account: string; name: string }) => {
    const project = await container.get(SitesKey).startProject(given.account, given.name);
    const { id, slug, name } = project;
    const reason = isReservedSlug(slugOf(name))
      ? `\nThe address ends in a number because "${slugOf(name)}" is reserved.`
      : '';
    return [
      { project: presentProject(project) },
      `Project ${slug} (${id}). Publish it: ${commandName()} deploy FOLDER --project ${slug}${reason}`,
    ];
  },
);

const list = command(
  'list the projects of an account',
  [ofAccount],
  async (container, { account }: { account: string }) => {
    await requireAccount(container, account);
    const found = await container.get(SitesKey).listProjects(account);
    const projects = found.map(presentProject);
    const rows = projects.map((one) => Object.values(one));
    return [projects, table(['ID', 'SLUG', 'NAME'], rows, 'No projects in this account.')];
  },
);

const deploys = command(
  'list the deploys of a project, newest first',
  [ofProject],
  async (container, { project }: { project: string }) => {
    const site = await container.get(SitesKey).getSite(project);
    const isServed = ({ id }: Deploy) => id === site.servedDeployId;
    const rows = site.deploys.map((deploy) => columnsOf(deploy, isServed(deploy)));
    const heading = ['DEPLOY', 'STATE', 'STARTED', 'FILES', 'SIZE', 'BY', 'MESSAGE', 'PROBLEM'];
    return [
      site.deploys.map((deploy) => ({ ...presentDeploy(deploy), served: isServed(deploy) })),
      table(heading, rows, 'No deploys yet.'),
    ];
  },
);

const rollBack = command(
  'serve an older deploy again',
  [ofProject, required('--to <number>', 'number of the deploy').argParser(wholeNumber)],
  async (container, { project: slug, to }: { project: string; to: number }) => {
    const sites = container.get(SitesKey);
    const { project } = await sites.getSite(slug);
    const site = await sites.rollBack(project, to);
    const served = site.deploys.find(({ id }) => id === site.servedDeployId);
    const url = (await container.get(SiteAddresses).recall()).urlOf(project.slug);
    return [
      { deploy: served && presentDeploy(served), url },
      `${project.slug} serves deploy ${String(to)}.\n${url}`,
    ];
  },
);

const deleteDeploy = command(
  'delete a deploy that is not being served, with its files, to free space',
  [ofProject, required('--number <number>', 'number of the deploy').argParser(wholeNumber)],
  async (container, { project: slug, number }: { project: string; number: number }) => {
    const sites = container.get(SitesKey);
    const { project } = await sites.getSite(slug);
    await sites.deleteDeploy(project, number);
    const { storedBytes, allowance } = await sites.showUse(project.accountId);
    const kept = `${bytesInWords(storedBytes)} of ${bytesInWords(allowance.storedBytes)}`;
    return [
      { deleted: number, storedBytes, ofBytes: allowance.storedBytes },
      `Deploy ${String(number)} of ${project.slug} is deleted. The account now uses ${kept}.`,
    ];
  },
);

export const projectCommands = group('project', 'create and list projects', {
  create,
  list,
  deploys,
  'roll-back': rollBack,
  'delete-deploy': deleteDeploy,
});

const presentProject = ({ id, slug, name }: Project) =>
  ({ id, slug, name }) satisfies Omit<EveryField<Project>, 'accountId' | 'createdAt' | 'deletedAt'>;

const columnsOf = (deploy: Deploy, isServed: boolean) =>
  Object.values({
    number: String(deploy.number),
    state: isServed ? 'served' : deploy.state,
    startedAt: deploy.startedAt.toISOString(),
    files: deploy.state === 'succeeded' ? String(deploy.files) : '',
    bytes: deploy.state === 'succeeded' ? bytesInWords(deploy.bytes) : '',
    madeBy: deploy.madeBy,
    message: deploy.message ?? '',
    explanation: deploy.state === 'failed' ? deploy.explanation : '',
  } satisfies Omit<EveryField<Deploy>, 'id' | 'finishedAt' | 'problem'>);

interface PublishGiven extends OutputOptions {
  readonly source: string;
  readonly project: string;
  readonly message?: string;
  readonly to?: URL;
}

const origin = (text: string): URL => {
  const url = originIn(text);
  if (!url) {
    throw new InvalidArgumentError(
      'Use an origin like https://api.example.com; plain http only for this machine.',
    );
  }
  if (!process.env[keyVariable]) {
    throw new InvalidArgumentError(
      `Set ${keyVariable} to an API key with the scope deploys:write.`,
    );
  }
  return url;
};

const keyVariable = 'ANIMAL_STORE_KEY';

/**
 * Refuses unencrypted origins, except on this machine, because others could read the key.
 * @returns undefined for refused origins and for anything else
 */
const originIn = (given: string): URL | undefined => {
  const url = URL.parse(given);
  if (!url || url.href !== `${url.origin}/`) return undefined;
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere) ? url : undefined;
};

const publish = bareCommand(
  'publish a folder or an archive as the site of a project',
  [
    new Argument('<source>', 'a folder, or a .zip, .tar.gz or .tgz'),
    ofProject,
    option('--message <text>', 'what changed, for the list of deploys'),
    option(
      '--to <origin>',
      `a service on another machine, like https://api.example.com; ${keyVariable} must be a key with the scope deploys:write`,
    ).argParser(origin),
  ],
  (_, given: PublishGiven) =>
    given.to ? publishElsewhere({ ...given, to: given.to }) : withContainer(publishHere(given)),
);

const publishElsewhere = async (given: PublishGiven & { readonly to: URL }): Promise<Answer> => {
  const { source, project, to } = given;
  const message = deployMessage(given.message ?? '');
  const target = { source, project, to, message, key: process.env[keyVariable] ?? '' };
  const done = await progressOf(given, (show) => deployElsewhere(target, show));
  if (done.kind === 'deployed') {
    return [{ deploy: done.deploy, url: done.deploy.url }, deployedInWords(done)];
  }
  process.exitCode = 1;
  const { explanation } = done;
  return [{ deploy: { status: 'failed', explanation }, url: null }, deployedInWords(done)];
};

const publishHere =
  (given: PublishGiven) =>
  async (container: Container): Promise<Answer> => {
    const sites = container.get(SitesKey);
    const { project } = await sites.getSite(given.project);
    const origin = { madeBy: 'operator', message: deployMessage(given.message ?? '') } as const;
    const deploy = await progressOf(given, (show) =>
      sites.deploySite(project, { upload: given.source, ...origin }, ({ step, done, total }) => {
        show(`${steps[step]} files`, done, total);
      }),
    );
    const url = (await container.get(SiteAddresses).recall()).urlOf(project.slug);
    if (deploy.state === 'failed') process.exitCode = 1;
    return [{ deploy: presentDeploy(deploy), url }, describe(deploy, url)];
  };

const steps = { unpacking: 'reading', preparing: 'compressing', storing: 'storing' } as const;

export const deployCommand: Define = (program) => {
  const defined = program.command('deploy');
  publish(defined);
  defined.hook('preAction', () => checkPlace(defined.processedArgs[0] as string));
};

const presentDeploy = (deploy: Deploy) => {
  const { id, number, state: status, madeBy, message = null, startedAt } = deploy;
  const shared = { id, number, status, madeBy, message, startedAt };
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

/**
 * Checks the path first, because a mistyped name must not create a failed deploy.
 * @throws Error, DomainError with the reason
 */
const checkPlace = async (path: string): Promise<void> => {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return;
  if (!found?.isFile()) {
    throw new Error(
      `${path}: no such file or folder. Give the folder of the built site, or an archive.`,
    );
  }
  await archiveSource(path);
};

const describe = (deploy: Deploy, url: string): string => {
  const name = `Deploy ${String(deploy.number)}`;
  switch (deploy.state) {
    case 'uploading':
      return `${name} is not finished yet.`;
    case 'succeeded':
      return `${name}: ${counted(deploy.files, 'file')}, ${bytesInWords(deploy.bytes)}.\n${url}`;
    case 'failed':
      return `${name} was refused (${deploy.problem}). ${deploy.explanation}\nWhat visitors see does not change.`;
  }
};
