import { DomainError } from '../../kernel/decision.ts';
import { SiteInspection, type SiteContents } from '../domain/site-contents.ts';
import {
  type Deploy,
  deployFailed,
  type DeployOrigin,
  deploySucceeded,
  giveUpUploads,
  longestUploadMs,
  type Site,
  startDeploy,
} from '../domain/site.ts';
import { type SitesErrorCode, type UploadProblem, uploadProblems } from '../domain/sites-error.ts';
import { admitBytes, keptBytes, roomFor, type StorageRoom } from '../domain/storage-quota.ts';
import type { Allowance } from '../domain/project.ts';
import type {
  OnProgress,
  SiteDraft,
  SiteSource,
  SitesPorts,
  SiteUnpacking,
  SourceEntry,
} from '../ports.ts';

/** Stores the files that `SiteInspection` admits. @throws DomainError with an `UploadProblem`; Unavailable */
export const unpackSite = async (
  source: SiteSource,
  { draft, room }: { readonly draft: SiteDraft; readonly room: StorageRoom },
  onProgress: OnProgress,
): Promise<SiteContents> => {
  const inspection = new SiteInspection(room);
  let done = 0;
  for await (const entry of source.entries) {
    const path = inspection.admit(entry.path, entry.kind);
    if (path !== undefined) await draft.write(path, counted(entry, inspection));
    done += 1;
    onProgress({ step: 'unpacking', done, total: source.total });
  }
  const contents = inspection.finish();
  const onPrepared = (done: number): void => {
    onProgress({ step: 'preparing', done, total: contents.files });
  };
  await draft.commit(onPrepared, inspection.wrapping());
  return contents;
};

/**
 * Counts the actual bytes and stops within a file that is too large, because sizes declared in an archive are
 * untrusted.
 */
async function* counted({ content }: SourceEntry, inspection: SiteInspection) {
  for await (const chunk of content) {
    inspection.count(chunk.length);
    yield chunk;
  }
}

type Ports<Upload> = Pick<SitesPorts, 'projects' | 'files' | 'allowances' | 'clock' | 'ids'> & {
  readonly unpacking: SiteUnpacking<Upload>;
};
type ProjectKey = Parameters<SitesPorts['projects']['change']>[0];

/** A deploy that is uploading, and its site at the beginning. */
export interface BegunDeploy {
  readonly site: Site;
  readonly id: string;
}

/** Starts the next deploy of a project, for `finishDeploy`. @throws DomainError `project_not_found`; Unavailable */
export const beginDeploy =
  ({ projects, clock, ids }: Pick<SitesPorts, 'projects' | 'clock' | 'ids'>) =>
  async (project: ProjectKey, origin: DeployOrigin): Promise<BegunDeploy> => {
    const begun = { ...origin, id: ids.next('dep') };
    const site = await projects.change(project, (one) => startDeploy(one, begun, clock.now()));
    return { site, id: begun.id };
  };

/**
 * Publishes a folder or an archive as a deploy that has begun. A refused deploy is stored as failed, with its reason,
 * and leaves no file behind.
 * @returns the deploy, succeeded or failed
 * @throws DomainError `deploy_wrong_state` if it was given up meanwhile; Unavailable
 */
export const finishDeploy =
  <Upload>(ports: Ports<Upload>) =>
  async (
    { site: begun, id }: BegunDeploy,
    upload: Upload,
    onProgress: OnProgress = () => undefined,
  ): Promise<Deploy> => {
    const { projects, unpacking, clock } = ports;
    const { project } = begun;
    try {
      const allowance = await ports.allowances.of(project.accountId);
      const room = await roomOf(ports, begun, id, allowance);
      const contents = await unpacking.unpack({ deployId: id, room }, upload, onProgress);
      // Another upload of the account may have used the room since the check.
      const site = await projects.changeKept(project, (uploaded, elsewhere) => {
        const now = clock.now();
        admitBytes(contents.bytes, roomFor(uploaded, id, { allowance, elsewhere }, now));
        return deploySucceeded(uploaded, id, contents, now);
      });
      return deployIn(site, id) ?? discarded(id);
    } catch (error) {
      return await failed(ports, project, id, error);
    }
  };

export const deploySite =
  <Upload>(ports: Ports<Upload>) =>
  async (
    project: ProjectKey,
    { upload, ...origin }: DeployOrigin & { readonly upload: Upload },
    onProgress?: OnProgress,
  ): Promise<Deploy> => {
    const begun = await beginDeploy(ports)(project, origin);
    return finishDeploy(ports)(begun, upload, onProgress);
  };

/**
 * Records the failure and removes the files, unless the deploy turns out to have succeeded. If the project was deleted
 * meanwhile, removes the files and throws.
 * @throws DomainError `project_not_found`, `deploy_not_found`; whatever the deploy failed with
 */
const failed = async (
  { projects, files, clock }: Omit<Ports<unknown>, 'unpacking'>,
  project: ProjectKey,
  id: string,
  error: unknown,
): Promise<Deploy> => {
  const reason = reasonOf(error);
  const recorded = projects.change(project, (current) =>
    deployIn(current, id)?.state === 'uploading'
      ? deployFailed(current, id, reason, clock.now())
      : { state: current, events: [] },
  );
  // If this fails, the job that gives up uploads removes the files later.
  const clear = () => files.remove(id).catch(() => undefined);
  const site = await recorded.catch(async (gone: unknown) => {
    if (gone instanceof DomainError && gone.code === 'project_not_found') await clear();
    throw gone;
  });
  const deploy = deployIn(site, id);
  // The success was stored; only the database's answer was lost.
  if (deploy?.state === 'succeeded') return deploy;
  await clear();
  if (!deploy) return discarded(id);
  if (reason.problem === 'upload_interrupted') throw error;
  return deploy;
};

/** @throws DomainError `storage_quota_reached` if there is no room */
const roomOf = async (
  { projects, clock }: Pick<SitesPorts, 'projects' | 'clock'>,
  site: Site,
  id: string,
  allowance: Allowance,
): Promise<StorageRoom> => {
  const elsewhere = (await projects.keptBytes(site.project.accountId)) - keptBytes(site);
  const room = roomFor(site, id, { allowance, elsewhere }, clock.now());
  admitBytes(0, room);
  return room;
};

const deployIn = ({ deploys }: Site, id: string): Deploy | undefined =>
  deploys.find((one) => one.id === id);

const discarded = (id: string): never => {
  throw new DomainError<SitesErrorCode>(
    'deploy_not_found',
    `Deploy ${id} was discarded meanwhile.`,
  );
};

const reasonOf = (error: unknown): { problem: UploadProblem; explanation: string } => {
  const problem = uploadProblems.find(
    (known) => error instanceof DomainError && error.code === known,
  );
  return problem && error instanceof DomainError
    ? { problem, explanation: error.message }
    : {
        problem: 'upload_interrupted',
        explanation: 'Something failed on our side. Deploy again.',
      };
};

const batch = 100;

/** When the oldest current upload will count as cut off. Without one, the time is that of an upload that begins now. */
export const uploadsCutOffAt =
  ({ projects, clock }: Pick<SitesPorts, 'projects' | 'clock'>) =>
  async (): Promise<Date> => {
    const begunAt = (await projects.oldestUpload()) ?? clock.now();
    return new Date(begunAt.getTime() + longestUploadMs + 1);
  };

/** Fails all cut-off uploads, in all projects. @returns how many projects had one */
export const giveUpCutOffUploads =
  ({ projects, clock }: Pick<SitesPorts, 'projects' | 'clock'>) =>
  async (isStopping: () => boolean = () => false): Promise<number> => {
    const now = clock.now();
    const before = new Date(now.getTime() - longestUploadMs);
    let affected = 0;
    for (const project of await projects.withUploadsSince(before, batch)) {
      if (isStopping()) break;
      await projects.change(project, (site) => giveUpUploads(site, now));
      affected += 1;
    }
    return affected;
  };
