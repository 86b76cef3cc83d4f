import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Deadline, Ids } from '../../kernel/ports.ts';
import { type Deploy, longestUploadMs } from '../../sites/domain/site.ts';
import type { Project } from '../../sites/domain/project.ts';
import { uploadRefused } from '../../sites/domain/sites-error.ts';
import type { UploadProgress } from '../../sites/ports.ts';
import type { Sites } from '../../sites/sites.ts';
import type { BegunDeploy } from '../../sites/use-cases/deploy-site.ts';
import { type GiveBack, Slots, uploadSlots } from './slots.ts';
import {
  discardRest,
  type FormFile,
  largestUpload,
  receiveBody,
  receiveForm,
} from './receive-file.ts';

interface UploadPorts {
  readonly sites: Pick<Sites, 'finishDeploy'>;
  readonly ids: Ids;
  readonly deadline: Deadline;
  readonly folder: string;
}

interface ReceivedForm {
  /** The other fields of the form. */
  readonly fields: ReadonlyMap<string, string>;
  /** The SHA-256 of the archive. */
  readonly hash: string;
}

interface Received {
  readonly hash: string;
  readonly unpack: (begun: BegunDeploy) => Promise<Deploy>;
}

export class Uploads {
  /** The name of the file's field in `takeForm`. */
  readonly field = 'archive';
  readonly #ports: UploadPorts;
  readonly #progress = new Map<string, UploadProgress>();
  readonly #inAll = new Slots(uploadSlots.inAll);
  readonly #receiving = new Slots(uploadSlots.receiving);
  readonly #unpacking = new Slots(uploadSlots.unpacking);
  readonly #reading = new Slots(uploadSlots.reading);

  constructor(ports: UploadPorts) {
    this.#ports = ports;
  }

  /** Returns the progress of the project's last upload, if this process is unpacking one. */
  progressOf({ id }: Project): UploadProgress | undefined {
    return this.#progress.get(id);
  }

  /**
   * Receives an archive in a form and deploys it. A bad archive becomes a failed deploy.
   * @param begin called before any change; an error that it throws ends the upload
   * @returns undefined if `begin` began nothing
   * @throws DomainError with an `UploadRefusal`; nothing is kept
   */
  takeForm(
    project: Project,
    request: IncomingMessage,
    begin: (received: ReceivedForm) => Promise<BegunDeploy | undefined>,
  ): Promise<Deploy | undefined> {
    const { deadline } = this.#ports;
    return this.#inFile(project, async (file, path) => {
      const hash = createHash('sha256');
      const take = (content: Readable) => file.writeFile(hashed(content, hash));
      const missing = 'Choose the archive of your site.';
      const archive = { field: this.field, largest: largestUpload, missing, take };
      const fields = await this.#receive(project, () => receiveForm(request, archive));
      const leave = await deadline.apart(() => this.#unpacking.take(project.accountId));
      return inSlot(leave, async () => {
        const begun = await begin({ fields, hash: hash.digest('hex') });
        return begun && this.#finish(begun, path);
      });
    });
  }

  /** Lends the received archive to `work`. @throws DomainError with an `UploadRefusal`; whatever `work` throws */
  takeBody<T>(
    project: Project,
    request: IncomingMessage,
    work: (received: Received) => Promise<T>,
  ): Promise<T> {
    const { deadline } = this.#ports;
    return this.#inFile(project, async (file, path) => {
      const hash = await this.#receive(project, () => receiveBody(request, file));
      const unpack = async (begun: BegunDeploy): Promise<Deploy> => {
        const leave = await deadline.apart(() => this.#unpacking.take(project.accountId));
        return inSlot(leave, () => this.#finish(begun, path));
      };
      return work({ hash, unpack });
    });
  }

  /** Receives a small file of a form into memory. @throws DomainError with an `UploadRefusal` */
  async readForm(
    accountId: string,
    request: IncomingMessage,
    wanted: FormFile,
  ): Promise<{ readonly fields: ReadonlyMap<string, string>; readonly file: Buffer }> {
    return inSlot(slotOrBusy(this.#reading, { accountId }), async () => {
      const pieces: Buffer[] = [];
      const take = async (content: AsyncIterable<Buffer>): Promise<void> => {
        for await (const piece of content) pieces.push(piece);
      };
      const { deadline } = this.#ports;
      const fields = await deadline.apart(() => receiveForm(request, { ...wanted, take }));
      return { fields, file: Buffer.concat(pieces) };
    });
  }

  /** Reads part of a refused upload, so that the sender gets the answer. */
  discard(request: IncomingMessage): void {
    discardRest(request);
  }

  async #inFile<T>(
    project: Project,
    work: (file: FileHandle, path: string) => Promise<T>,
  ): Promise<T> {
    const { folder, ids } = this.#ports;
    return inSlot(slotOrBusy(this.#inAll, project), () =>
      inUploadFile(folder, ids.next('upload'), work),
    );
  }

  #receive<T>(project: Project, receive: () => Promise<T>): Promise<T> {
    const leave = slotOrBusy(this.#receiving, project);
    return inSlot(leave, () => this.#ports.deadline.apart(receive));
  }

  async #finish(begun: BegunDeploy, upload: string): Promise<Deploy> {
    const { project } = begun.site;
    try {
      return await this.#ports.sites.finishDeploy(begun, upload, (progress) => {
        this.#progress.set(project.id, progress);
      });
    } finally {
      this.#progress.delete(project.id);
    }
  }
}

async function* hashed(content: AsyncIterable<Buffer>, hash: Hash) {
  for await (const piece of content) {
    hash.update(piece);
    yield piece;
  }
}

const inSlot = async <T>(leave: GiveBack, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } finally {
    leave();
  }
};

/** @throws DomainError `upload_busy` */
const slotOrBusy = (slots: Slots, { accountId }: Pick<Project, 'accountId'>): GiveBack => {
  const leave = slots.tryTake(accountId);
  if (leave) return leave;
  throw uploadRefused('upload_busy', 'Other uploads are in progress. Try again in a minute.');
};

/** Lends a private file to `work` and always removes it. @throws DomainError `upload_no_space`; whatever `work` throws */
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
    throw uploadRefused(
      'upload_no_space',
      'Our server has no space left for uploads. Try again later.',
    );
  } finally {
    await rm(path, { force: true });
  }
};

/** Removes uploads of dead processes. Uses the machine's clock, because file dates do. */
const removeLeftOvers = async (folder: string): Promise<void> => {
  const old = Date.now() - longestUploadMs;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < old) await rm(path, { force: true });
  }
};

const isFull = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
};
