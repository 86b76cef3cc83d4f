import { DomainError } from '../../kernel/domain-error.ts';
import type { Deploy } from '../domain/deploy.ts';
import { inspectSite, type SiteInspection } from '../domain/site-contents.ts';
import { deployFailed, deploySucceeded, startDeploy, type Site } from '../domain/site.ts';
import { uploadProblems, type SitesErrorCode, type UploadProblem } from '../domain/sites-error.ts';
import type { SiteDraft, SitesPorts, SiteSource, SourceEntry } from '../ports.ts';

export interface UploadProgress {
  readonly step: 'unpacking' | 'preparing';
  /** Entries or files done, of so many, where that is known. */
  readonly done: number;
  readonly total: number | undefined;
}

type Ports = Pick<SitesPorts, 'projects' | 'files' | 'clock' | 'ids'>;
type ProjectKey = Parameters<SitesPorts['projects']['change']>[0];
type OnProgress = (progress: UploadProgress) => void;

/**
 * Publishes a folder or an archive as the next deploy of a project. A refused one is remembered as failed, with
 * its reason, and leaves no file behind.
 * @returns the deploy, succeeded or failed
 * @throws DomainError `project_not_found`; `deploy_wrong_state` when it was given up meanwhile; Unavailable
 */
export const deploySite =
  (ports: Ports) =>
  async (
    project: ProjectKey,
    source: SiteSource,
    onProgress: OnProgress = () => undefined,
  ): Promise<Deploy> => {
    const { projects, files, clock, ids } = ports;
    const id = ids.next('dep');
    await projects.change(project, (site) => startDeploy(site, id, clock.now()));
    try {
      const contents = await unpack(source, await files.begin(id), onProgress);
      const site = await projects.change(project, (uploaded) =>
        deploySucceeded(uploaded, id, contents, clock.now()),
      );
      return deployIn(site, id) ?? discarded(id);
    } catch (error) {
      return await failed(ports, project, id, error);
    }
  };

/** What a failure leaves: nothing to remove where it turns out that the deploy is served. */
const failed = async (
  { projects, files, clock }: Ports,
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
  // The success was stored, only the answer got lost.
  if (deploy?.state === 'succeeded') return deploy;
  // The job that gives up uploads removes what could not be removed here.
  await files.remove(id).catch(() => undefined);
  if (!deploy || reason.problem === 'upload_interrupted') throw error;
  return deploy;
};

const deployIn = ({ deploys }: Site, id: string): Deploy | undefined =>
  deploys.find((one) => one.id === id);

const discarded = (id: string): never => {
  throw new DomainError<SitesErrorCode>(
    'deploy_not_found',
    `Deploy ${id} was discarded meanwhile.`,
  );
};

const unpack = async (source: SiteSource, draft: SiteDraft, onProgress: OnProgress) => {
  const inspection = inspectSite();
  let done = 0;
  for await (const entry of source.entries) {
    const path = inspection.admit(entry.path, entry.kind);
    if (path !== undefined) await draft.write(path, counted(entry, inspection));
    done += 1;
    onProgress({ step: 'unpacking', done, total: source.total });
  }
  const contents = inspection.finish();
  await draft.commit((prepared) => {
    onProgress({ step: 'preparing', done: prepared, total: contents.files });
  });
  return contents;
};

/** Stops in the middle of a file that is too large: what an archive says of its sizes is not believed. */
async function* counted({ content }: SourceEntry, inspection: SiteInspection) {
  for await (const chunk of content) {
    inspection.count(chunk.length);
    yield chunk;
  }
}

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
