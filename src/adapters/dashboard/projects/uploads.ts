import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type Deploy, longestUploadMs } from '../../../sites/domain/site.ts';
import type { Project } from '../../../sites/domain/project.ts';
import type { UploadProgress } from '../../../sites/ports.ts';
import { PageProblem } from '../frame/page-problem.ts';
import type { DashboardPorts } from '../ports.ts';
import { type GiveBack, Slots, uploadSlots } from './slots.ts';
import { receiveFile } from './upload-file.ts';

export type UploadPorts = Pick<DashboardPorts, 'sites' | 'ids' | 'deadline'> & {
  readonly folder: string;
};

export class Uploads {
  readonly #ports: UploadPorts;
  readonly #progress = new Map<string, UploadProgress>();
  readonly #inAll = new Slots(uploadSlots.inAll);
  readonly #receiving = new Slots(uploadSlots.receiving);
  readonly #unpacking = new Slots(uploadSlots.unpacking);

  constructor(ports: UploadPorts) {
    this.#ports = ports;
  }

  /** Progress of the last upload to a project, if this process is unpacking one. */
  progressOf({ id }: Project): UploadProgress | undefined {
    return this.#progress.get(id);
  }

  /**
   * Receives an archive and publishes it. A bad archive becomes a failed deploy.
   * @throws PageProblem when it is refused; nothing is kept
   */
  async take(project: Project, request: IncomingMessage): Promise<Deploy> {
    const { folder, ids } = this.#ports;
    return inPlace(placeOrBusy(this.#inAll, project), () =>
      inUploadFile(folder, ids.next('upload'), async (file, path) => {
        await this.#receive(project, request, file);
        return this.#unpack(project, path);
      }),
    );
  }

  async #receive(project: Project, request: IncomingMessage, file: FileHandle): Promise<void> {
    await inPlace(placeOrBusy(this.#receiving, project), () =>
      this.#ports.deadline.apart(() => receiveFile(request, file)),
    );
  }

  async #unpack(project: Project, path: string): Promise<Deploy> {
    const { deadline } = this.#ports;
    const leave = await deadline.apart(() => this.#unpacking.take(project.accountId));
    return inPlace(leave, () => this.#deploy(project, path));
  }

  async #deploy(project: Project, path: string): Promise<Deploy> {
    try {
      return await this.#ports.sites.deploySite(project, path, (progress) => {
        this.#progress.set(project.id, progress);
      });
    } finally {
      this.#progress.delete(project.id);
    }
  }
}

const inPlace = async <T>(leave: GiveBack, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } finally {
    leave();
  }
};

/** @throws PageProblem 503 */
const placeOrBusy = (slots: Slots, { accountId }: Project): GiveBack => {
  const leave = slots.tryTake(accountId);
  if (leave) return leave;
  throw new PageProblem(503, 'Other uploads are in progress. Try again in a minute.');
};

/**
 * Lends `work` a new private file, and always removes it afterwards.
 * @param name not taken yet, and hard to guess
 * @throws PageProblem 503 when the disk is full; whatever `work` throws
 */
const inUploadFile = async <T>(
  folder: string,
  name: string,
  work: (file: FileHandle, path: string) => Promise<T>,
): Promise<T> => {
  const path = join(folder, name);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removeLeftOvers(folder);
    const file = await open(path, 'wx', 0o600);
    try {
      return await work(file, path);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (!isFull(error)) throw error;
    throw new PageProblem(503, 'Our server has no space left for uploads. Try again later.');
  } finally {
    await rm(path, { force: true });
  }
};

/** Removes uploads that a dead process left behind. Uses the machine's clock, because that dates files. */
const removeLeftOvers = async (folder: string): Promise<void> => {
  const old = Date.now() - longestUploadMs;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    // Another process may have removed it first.
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < old) await rm(path, { force: true });
  }
};

const isFull = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
};
