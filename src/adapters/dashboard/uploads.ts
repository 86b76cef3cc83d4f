import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../kernel/domain-error.ts';
import type { Deploy } from '../../sites/domain/deploy.ts';
import type { Project } from '../../sites/domain/project.ts';
import type { SiteSource } from '../../sites/ports.ts';
import type { UploadProgress } from '../../sites/use-cases/deploy-site.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { PageProblem } from './page-problem.ts';
import { receiveFile } from './upload-file.ts';
import { inUploadFile } from './upload-folder.ts';

/** In one process: each takes disk while it comes in, and a processor while it is compressed. */
const mostAtOnce = 4;
/** So that who sends slowly holds up nobody else. */
const mostOfOne = 2;

export type UploadPorts = Pick<DashboardPorts, 'sites' | 'ids' | 'openArchive'> & {
  readonly folder: string;
};

/** Uploads under way in this process. */
export class Uploads {
  readonly #ports: UploadPorts;
  readonly #progress = new Map<string, UploadProgress>();
  /** Whose they are. */
  readonly #underWay: string[] = [];

  constructor(ports: UploadPorts) {
    this.#ports = ports;
  }

  /** How far the last upload to a project is, if one is unpacked here. */
  progressOf({ id }: Project): UploadProgress | undefined {
    return this.#progress.get(id);
  }

  /**
   * Receives an archive and publishes it. A bad archive becomes a failed deploy.
   * @throws PageProblem when it is not taken: nothing of it stays
   */
  async take(project: Project, request: IncomingMessage): Promise<Deploy> {
    const { accountId } = project;
    this.#admit(accountId);
    const { folder, ids } = this.#ports;
    try {
      return await inUploadFile(folder, ids.next('upload'), async (file, path) => {
        await receiveFile(request, file);
        return await this.#deploy(project, path);
      });
    } finally {
      this.#underWay.splice(this.#underWay.indexOf(accountId), 1);
    }
  }

  /** @throws PageProblem 503 */
  #admit(accountId: string): void {
    const own = this.#underWay.filter((one) => one === accountId).length;
    if (own >= mostOfOne || this.#underWay.length >= mostAtOnce) {
      throw new PageProblem(503, 'Other uploads are in progress. Try again in a minute.');
    }
    this.#underWay.push(accountId);
  }

  async #deploy(project: Project, path: string): Promise<Deploy> {
    const { sites, openArchive } = this.#ports;
    const source = await openArchive(path).catch(unreadable);
    try {
      return await sites.deploySite(project, source, (progress) => {
        this.#progress.set(project.id, progress);
      });
    } finally {
      this.#progress.delete(project.id);
    }
  }
}

/** What is no archive at all is refused where all others are: as a deploy that failed, with its reason. */
const unreadable = (error: unknown): SiteSource => {
  if (!(error instanceof DomainError)) throw error;
  const refusing = {
    next: () => Promise.reject(error),
  };
  return { entries: { [Symbol.asyncIterator]: () => refusing }, total: undefined };
};
