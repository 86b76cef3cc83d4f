import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { Unavailable } from '../../../src/kernel/ports.ts';
import {
  SiteFiles,
  type Encoding,
  type ReadForm,
  type SiteDraft,
  type StoredFile,
} from '../../../src/sites/ports.ts';
import { EdgeRecords, type EdgeChanges } from '../../../src/domains/ports.ts';
import { LocalCertificateAuthority } from '../../../src/adapters/acme/local-certificate-authority.ts';
import { ChallengeAnswers } from '../../../src/adapters/edge/edge-handler.ts';
import { EdgeServer, type EdgeSettings } from '../../../src/adapters/edge/edge-server.ts';
import { RouteTable, type PlatformFiles } from '../../../src/adapters/edge/route-table.ts';
import { SiteCache } from '../../../src/adapters/edge/site-cache.ts';
import { addressBucket } from '../../../src/adapters/http/listener/client-address.ts';
import { FileSystemSiteFiles } from '../../../src/adapters/storage/file-system-site-files.ts';
import { AesGcmSealer } from '../../../src/adapters/system/secrets.ts';
import { SystemClock, UuidIds } from '../../../src/adapters/system/system-ports.ts';
import type { Certificate } from '../../../src/domains/domain/certificates/renewal.ts';
import { placed, takeToCertificate } from '../../contract/domains/certificate-authority-steps.ts';
import { edgeClient, type EdgeClient } from './edge-client.ts';
import { startObjectStore } from '../servers/object-store.ts';
import { processOn } from '../sites/object-store-files.ts';
import type { EdgeWriter } from '../storage-ports.ts';
import { openStores, type Stores } from '../stores.ts';
import { now } from '../accounts.ts';

const away = () => new Unavailable('The test', new Error('it is away'));

/** Passes calls to other records unless `isAway` is set. */
class LosableEdgeRecords extends EdgeRecords {
  isAway = false;
  looks = 0;
  readonly #records: EdgeRecords;

  constructor(records: EdgeRecords) {
    super();
    this.#records = records;
  }

  override async changesSince(revision: bigint): Promise<EdgeChanges> {
    this.looks += 1;
    if (this.isAway) throw away();
    return this.#records.changesSince(revision);
  }

  override names(): Promise<readonly string[]> {
    return this.#records.names();
  }
}

class LosableSiteFiles extends SiteFiles {
  isAway = false;
  readsAtMost = Infinity;
  bytesRead = 0;
  readonly #files: SiteFiles;
  #open = 0;

  constructor(files: SiteFiles) {
    super();
    this.#files = files;
  }

  get open(): number {
    return this.#open;
  }

  override begin(deployId: string): Promise<SiteDraft> {
    return this.#files.begin(deployId);
  }

  override putBack(deployId: string, files: readonly StoredFile[], read: ReadForm): Promise<void> {
    return this.#files.putBack(deployId, files, read);
  }

  override async list(deployId: string): Promise<readonly StoredFile[] | undefined> {
    if (this.isAway) throw away();
    return this.#files.list(deployId);
  }

  override async *read(
    deployId: string,
    file: StoredFile,
    encoding: Encoding,
    range?: { readonly first: number; readonly last: number },
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.isAway) throw away();
    this.#open += 1;
    let left = this.readsAtMost;
    try {
      for await (const chunk of this.#files.read(deployId, file, encoding, range)) {
        this.bytesRead += chunk.length;
        yield chunk.subarray(0, left);
        left -= chunk.length;
        if (left <= 0) throw away();
      }
    } finally {
      this.#open -= 1;
    }
  }

  override remove(deployId: string): Promise<void> {
    return this.#files.remove(deployId);
  }
}

const platformHost = 'sites.test';

type SiteContents = Readonly<Record<string, string | Uint8Array>>;

export const siteStorages = ['the file system', 'an object store'] as const;
type SiteStorage = (typeof siteStorages)[number];

export interface RunningEdge extends EdgeClient, EdgeWriter {
  readonly server: EdgeServer;
  readonly routes: RouteTable;
  readonly stores: Stores;
  readonly records: LosableEdgeRecords;
  readonly files: LosableSiteFiles;
  readonly logged: readonly LogLine[];
  /** Issues a certificate that every visitor trusts, without serving it. */
  issue(host: string, also?: readonly string[]): Promise<Certificate>;
  setCertificate(certificate: Certificate): Promise<void>;
  /** Serves the site from now on, and issues a certificate if the host has none. */
  publish(host: string, contents: SiteContents, projectId?: string): Promise<void>;
  /** Stores the same as `publish` without notifying the edge. @returns the id of the deploy */
  store(host: string, contents: SiteContents, projectId?: string): Promise<string>;
  remove(host: string): Promise<void>;
  /** Removes the host from storage without notifying the edge. */
  forget(host: string): Promise<void>;
  readonly folder: string;
  close(): Promise<void>;
}

interface LogLine {
  readonly level: number;
  readonly msg: string;
}

/** An edge in this process with private ports, stores and authority. */
export const startEdge = async (
  options: {
    storage?: SiteStorage;
    settings?: EdgeSettings;
    networkOf?: (address: string) => string;
    files?: PlatformFiles;
    answer?: (host: string, token: string) => Promise<string | undefined>;
  } = {},
): Promise<RunningEdge> => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-edge-'));
  const authority = new LocalCertificateAuthority({
    folder,
    sealer: new AesGcmSealer(new Uint8Array(32)),
    clock: new SystemClock(),
  });
  const issue: RunningEdge['issue'] = async (host, also) =>
    takeToCertificate({ authority }, await placed(authority, host, { also }));
  await issue('first.test');
  const root = await readFile(join(folder, 'local-ca.pem'), 'utf8');
  const logged: LogLine[] = [];
  const log = pino({}, { write: (line) => void logged.push(JSON.parse(line) as LogLine) });
  const stores = await openStores('sqlite');
  const { certificates, edgeWriter } = stores;
  const records = new LosableEdgeRecords(stores.edgeRecords);
  const opened = await openFiles(options.storage ?? 'the file system', folder);
  const inner = opened.files;
  const files = new LosableSiteFiles(inner);
  const routes = new RouteTable(records, { host: platformHost, files: options.files }, log);
  const nothing = () => Promise.resolve(undefined);
  const challenges = new ChallengeAnswers(options.answer ?? nothing, log);
  const server = new EdgeServer(
    {
      routes,
      cache: new SiteCache(files),
      challenges,
      log,
      networkOf: options.networkOf ?? addressBucket,
    },
    options.settings,
  );
  const ports = await server.listen({ host: '127.0.0.1', httpPort: 0, httpsPort: 0 });
  const ids = new UuidIds();

  const store: RunningEdge['store'] = async (host, contents, projectId = `proj-${host}`) => {
    const deployId = ids.next('dep');
    await writeSite(inner, deployId, contents);
    if (!(await certificates.find(host))) await edgeWriter.saveCertificate(await issue(host));
    await edgeWriter.setRoute({ name: routeName(host), projectId, kind: 'site', deployId });
    return deployId;
  };
  const forget = async (host: string): Promise<void> => {
    await edgeWriter.removeRoute(routeName(host), now);
    await edgeWriter.removeCertificate(host, now);
  };
  return {
    ...edgeClient(ports, root),
    ...edgeWriter,
    setCertificate: (one) => edgeWriter.saveCertificate(one),
    stores,
    server,
    routes,
    records,
    files,
    logged,
    issue,
    store,
    forget,
    publish: async (...site) => {
      await store(...site);
      await routes.refresh();
    },
    remove: async (host) => {
      await forget(host);
      await routes.refresh();
    },
    folder,
    close: async () => {
      await server.stop();
      await stores.close();
      await opened.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const openFiles = async (
  storage: SiteStorage,
  folder: string,
): Promise<{ readonly files: SiteFiles; close(): Promise<void> }> => {
  switch (storage) {
    case 'the file system':
      return {
        files: new FileSystemSiteFiles(join(folder, 'deploys')),
        close: () => Promise.resolve(),
      };
    case 'an object store': {
      const store = await startObjectStore();
      const { files } = processOn({ place: store.place, folder });
      return { files, close: () => store.stop() };
    }
  }
};

/** A host directly below the platform host is stored as its label. */
const routeName = (host: string): string =>
  host.endsWith(`.${platformHost}`) ? host.slice(0, -platformHost.length - 1) : host;

const writeSite = async (
  files: SiteFiles,
  deployId: string,
  contents: SiteContents,
): Promise<void> => {
  const draft = await files.begin(deployId);
  for (const [path, content] of Object.entries(contents)) {
    await draft.write(path, new Blob([Buffer.from(content as string)]).stream());
  }
  await draft.commit(() => undefined);
};
