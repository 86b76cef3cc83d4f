import { DomainError } from '../../kernel/domain-error.ts';
import type { Allowance } from '../domain/allowance.ts';
import type { Deploy } from '../domain/deploy.ts';
import { deployFailed, deploySucceeded, startDeploy, type Site } from '../domain/site.ts';
import { admitBytes, keptBytes, roomFor, type StorageRoom } from '../domain/storage-quota.ts';
import { uploadProblems, type SitesErrorCode, type UploadProblem } from '../domain/sites-error.ts';
import type { OnProgress, SitesPorts, SiteUnpacking } from '../ports.ts';

type Ports<Upload> = Pick<SitesPorts, 'projects' | 'files' | 'allowances' | 'clock' | 'ids'> & {
  readonly unpacking: SiteUnpacking<Upload>;
};
type ProjectKey = Parameters<SitesPorts['projects']['change']>[0];

/**
 * Publishes a folder or an archive as the next deploy of a project. A refused one is remembered as failed, with
 * its reason, and leaves no file behind.
 * @returns the deploy, succeeded or failed
 * @throws DomainError `project_not_found`; `deploy_wrong_state` when it was given up meanwhile; Unavailable
 */
export const deploySite =
  <Upload>(ports: Ports<Upload>) =>
  async (
    project: ProjectKey,
    upload: Upload,
    onProgress: OnProgress = () => undefined,
  ): Promise<Deploy> => {
    const { projects, unpacking, clock, ids } = ports;
    const id = ids.next('dep');
    const started = await projects.change(project, (site) => startDeploy(site, id, clock.now()));
    try {
      const allowance = await ports.allowances.of(started.project.accountId);
      const room = await roomOf(ports, started, id, allowance);
      const contents = await unpacking.unpack({ deployId: id, room }, upload, onProgress);
      // Another upload of the account may have used the room since it was checked.
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

/** Records the failure and removes the files, unless the deploy turns out to have succeeded. */
const failed = async (
  { projects, files, clock }: Omit<Ports<unknown>, 'unpacking'>,
  project: ProjectKey,
  id: string,
  error: unknown,
): Promise<Deploy> => {
  const reason = reasonOf(error);
  const site = await projects.change(project, (current) =>
    deployIn(current, id)?.state === 'uploading'
      ? deployFailed(current, id, reason, clock.now())
      : { state: current, events: [] },
  );
  const deploy = deployIn(site, id);
  // The success was stored; only the database's answer was lost.
  if (deploy?.state === 'succeeded') return deploy;
  // The job that gives up uploads removes what could not be removed here.
  await files.remove(id).catch(() => undefined);
  if (!deploy || reason.problem === 'upload_interrupted') throw error;
  return deploy;
};

/** @throws DomainError `storage_quota_reached` when there is none */
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
