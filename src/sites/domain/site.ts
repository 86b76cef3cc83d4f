import {
  refusedTransition,
  type Decision,
  type Transitions,
  DomainError,
} from '../../kernel/decision.ts';
import type { Actor } from '../../kernel/ports.ts';
import type { Project } from './project.ts';
import type { SitesErrorCode, UploadProblem } from './sites-error.ts';
import type { DeployFailed, DeploySucceeded, SitesEvent } from './sites-event.ts';

/** One uploaded version of a project. Only a succeeded one has files and can be served. */
export type Deploy = DeployIdentity &
  (
    | { readonly state: 'uploading' }
    | {
        readonly state: 'succeeded';
        readonly finishedAt: Date;
        readonly files: number;
        readonly bytes: number;
      }
    | {
        readonly state: 'failed';
        readonly finishedAt: Date;
        readonly problem: UploadProblem;
        readonly explanation: string;
      }
  );

export interface DeployOrigin {
  readonly madeBy: Actor;
  readonly message: string | undefined;
}

interface DeployIdentity extends DeployOrigin {
  readonly id: string;
  readonly number: number;
  readonly startedAt: Date;
}

export const deployStates = ['uploading', 'succeeded', 'failed'] as const;
export type DeployState = (typeof deployStates)[number];

/** The whole lifecycle; docs/lifecycles.md is printed from this table. */
export const deployTransitions = {
  uploading: ['succeeded', 'failed'],
  succeeded: [],
  failed: [],
} as const satisfies Transitions<DeployState>;

export const keptDeploys = 10;

/** An upload that takes longer counts as cut off. */
export const longestUploadMs = 60 * 60 * 1000;

export interface Site {
  readonly project: Project;
  /** Newest first: the last `keptDeploys`, the served one, and those that are uploading or have just ended. */
  readonly deploys: readonly Deploy[];
  /** The deploy that visitors get: the newest succeeded one, or an older one after a rollback. */
  readonly servedDeployId: string | undefined;
  readonly servedSince: Date | undefined;
  /** The highest number that a deploy ever had, even if that deploy was deleted. */
  readonly lastNumber: number;
}

type SiteDecision = Decision<Site, SitesEvent>;

const longestMessage = 200;

/** The first line of a description, such as a commit message; undefined if it is empty. */
export const deployMessage = (text: string): string | undefined => {
  const [first = ''] = text.trim().split(/[\n\r\p{Zl}\p{Zp}]/u, 1);
  const plain = [
    ...first
      .toWellFormed()
      .replace(/[\p{Cc}\p{Bidi_Control}]/gu, ' ')
      .trim(),
  ];
  if (plain.length > longestMessage) return `${plain.slice(0, longestMessage - 1).join('')}…`;
  return plain.length === 0 ? undefined : plain.join('');
};

export const startDeploy = (
  site: Site,
  { id, madeBy, message }: DeployOrigin & { readonly id: string },
  now: Date,
): SiteDecision => {
  const number = site.lastNumber + 1;
  const deploy: Deploy = { id, number, madeBy, message, startedAt: now, state: 'uploading' };
  const deploys = [deploy, ...site.deploys];
  return { state: { ...site, deploys, lastNumber: number }, events: [] };
};

/**
 * Serves the deploy, unless a newer one finished first.
 * @throws DomainError `deploy_wrong_state` if it was given up meanwhile
 */
export const deploySucceeded = (
  site: Site,
  deployId: string,
  contents: { readonly files: number; readonly bytes: number },
  now: Date,
): SiteDecision => {
  const deploy = endingAs('succeeded', site, deployId);
  const { files, bytes } = contents;
  const finished = finish(site, { ...deploy, state: 'succeeded', finishedAt: now, files, bytes });
  const overtaken = site.deploys.some(
    (other) => other.state === 'succeeded' && other.number > deploy.number,
  );
  const served = overtaken ? finished : { ...finished, servedDeployId: deployId, servedSince: now };
  const { number } = deploy;
  const succeeded = { type: 'deploy_succeeded', ...about(site, now), deployId, number } as const;
  return withoutOldDeploys(served, succeeded, now);
};

/** @throws DomainError `deploy_wrong_state` if the deploy has already ended */
export const deployFailed = (
  site: Site,
  deployId: string,
  reason: { readonly problem: UploadProblem; readonly explanation: string },
  now: Date,
): SiteDecision => {
  const deploy = endingAs('failed', site, deployId);
  const { problem, explanation } = reason;
  const failed: Deploy = { ...deploy, state: 'failed', finishedAt: now, problem, explanation };
  const { number } = deploy;
  const event = { type: 'deploy_failed', ...about(site, now), deployId, number, problem } as const;
  return withoutOldDeploys(finish(site, failed), event, now);
};

/** Fails a cut-off upload. A deploy that has ended does not change. */
export const giveUpUpload = (site: Site, deployId: string, now: Date): SiteDecision => {
  const deploy = site.deploys.find(({ id }) => id === deployId);
  if (deploy?.state !== 'uploading') return { state: site, events: [] };
  const explanation = 'The upload was cut off before it was complete. Deploy again.';
  return deployFailed(site, deployId, { problem: 'upload_interrupted', explanation }, now);
};

/** Fails every cut-off upload, because its process can no longer do so. */
export const giveUpUploads = (site: Site, now: Date): SiteDecision => {
  const cutOff = site.deploys.filter(
    (deploy) =>
      deploy.state === 'uploading' && now.getTime() - deploy.startedAt.getTime() > longestUploadMs,
  );
  let decision: SiteDecision = { state: site, events: [] };
  for (const { id } of cutOff) {
    const next = giveUpUpload(decision.state, id, now);
    decision = { state: next.state, events: [...decision.events, ...next.events] };
  }
  return decision;
};

/** @throws DomainError `deploy_not_found`, `deploy_wrong_state` if the deploy did not succeed */
export const rollBack = (site: Site, number: number, now: Date): SiteDecision => {
  const deploy = deployNumbered(site, number);
  if (deploy.state !== 'succeeded') {
    throw new DomainError<SitesErrorCode>(
      'deploy_wrong_state',
      `Deploy ${String(number)} is ${deploy.state}; only a succeeded one can be served.`,
    );
  }
  if (deploy.id === site.servedDeployId) return { state: site, events: [] };
  const event = { ...about(site, now), deployId: deploy.id, number } as const;
  return {
    state: { ...site, servedDeployId: deploy.id, servedSince: now },
    events: [{ type: 'site_rolled_back', ...event }],
  };
};

/** @throws DomainError `deploy_not_found`, `deploy_wrong_state` if the deploy is served or uploading */
export const deleteDeploy = (site: Site, number: number, now: Date): SiteDecision => {
  const deploy = deployNumbered(site, number);
  const name = `Deploy ${String(number)}`;
  if (deploy.id === site.servedDeployId) {
    const message = `${name} is served. Serve another one first, then delete it.`;
    throw new DomainError<SitesErrorCode>('deploy_wrong_state', message);
  }
  if (deploy.state === 'uploading') {
    const message = `${name} is uploading. Delete it once it has ended.`;
    throw new DomainError<SitesErrorCode>('deploy_wrong_state', message);
  }
  const event = { ...about(site, now), deployId: deploy.id, number } as const;
  return {
    state: { ...site, deploys: site.deploys.filter((one) => one !== deploy) },
    events: [{ type: 'deploy_deleted', ...event }],
  };
};

const deployNumbered = (site: Site, number: number): Deploy => {
  const deploy = site.deploys.find((one) => one.number === number);
  if (deploy) return deploy;
  throw new DomainError<SitesErrorCode>(
    'deploy_not_found',
    `${site.project.slug} has no deploy ${String(number)}; the last ${String(keptDeploys)} are kept.`,
  );
};

const endingAs = (state: DeployState, site: Site, deployId: string): Deploy => {
  const deploy = site.deploys.find((one) => one.id === deployId);
  if (!deploy) {
    throw new DomainError<SitesErrorCode>('deploy_not_found', `There is no deploy ${deployId}.`);
  }
  const thing = `Deploy ${String(deploy.number)}`;
  const problem = refusedTransition(deployTransitions, thing, deploy.state, state);
  if (problem) throw new DomainError<SitesErrorCode>('deploy_wrong_state', problem);
  return deploy;
};

const about = ({ project }: Site, now: Date) => ({
  accountId: project.accountId,
  occurredAt: now,
  projectId: project.id,
});

const finish = (site: Site, finished: Deploy): Site => ({
  ...site,
  deploys: site.deploys.map((deploy) => (deploy.id === finished.id ? finished : deploy)),
});

/** Keeps the deploy that has just ended, because its uploader still waits for the result. */
const withoutOldDeploys = (
  site: Site,
  ended: DeploySucceeded | DeployFailed,
  now: Date,
): SiteDecision => {
  const isKept = ({ id, state }: Deploy, at: number) =>
    at < keptDeploys ||
    id === site.servedDeployId ||
    id === ended.deployId ||
    state === 'uploading';
  const discarded = site.deploys.filter((deploy, at) => !isKept(deploy, at));
  return {
    state: { ...site, deploys: site.deploys.filter(isKept) },
    events: [
      ended,
      ...discarded.map(
        ({ id }) => ({ type: 'deploy_discarded', ...about(site, now), deployId: id }) as const,
      ),
    ],
  };
};
