import type { EntryKind } from '../../../src/sites/domain/site-contents.ts';
import type { SiteSource, SourceEntry } from '../../../src/sites/ports.ts';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import type { Decision } from '../../../src/kernel/decision.ts';
import type { Certificate } from '../../../src/domains/domain/certificates/renewal.ts';
import { createProject, type Project } from '../../../src/sites/domain/project.ts';
import {
  deploySucceeded,
  startDeploy,
  type DeployOrigin,
  type Site,
} from '../../../src/sites/domain/site.ts';
import type { SitesEvent } from '../../../src/sites/domain/sites-event.ts';
import { later, takeEvents } from '../accounts.ts';
import type { StoragePorts } from '../storage-ports.ts';

/** The whole stream in one piece. */
export const allOf = async (content: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const chunks = [];
  for await (const chunk of content) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
};

/** Yields content in the given pieces, each in a separate turn of the event loop. */
export async function* inPieces(...pieces: readonly (string | Uint8Array)[]) {
  for (const piece of pieces) yield await Promise.resolve(new Uint8Array(Buffer.from(piece)));
}

/** Yields content that breaks off after its first piece. */
export async function* brokenOff(error: Error) {
  yield* inPieces('the first piece');
  throw error;
}

export const entry = (
  path: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array> = `this is ${path}`,
  kind: EntryKind = 'file',
): SourceEntry => ({
  path,
  kind,
  content:
    typeof content === 'string' || content instanceof Uint8Array ? inPieces(content) : content,
});

async function* inOrder<T>(things: Iterable<T>) {
  for (const thing of things) yield await Promise.resolve(thing);
}

export const sourceOf = (...entries: readonly SourceEntry[]): SiteSource => ({
  entries: inOrder(entries),
  total: entries.length,
});

const ids = new UuidIds();

export const projectDecision = (accountId: string, draft: Partial<Project> = {}, at = later(0)) => {
  const id = ids.next('proj');
  return createProject({ id, accountId, name: 'Birds', slug: id.replace('_', '-'), ...draft }, at);
};

/** Creates a project through the port and removes its event. */
export const newProject = async (
  stores: Pick<StoragePorts, 'projects' | 'outbox'>,
  accountId: string,
  draft: Partial<Project> = {},
): Promise<Project> => {
  const decision = projectDecision(accountId, draft);
  await stores.projects.add(accountId, () => decision);
  await takeEvents(stores);
  return decision.state;
};

/** The author of test deploys. */
export const byOperator: DeployOrigin = { madeBy: 'operator', message: undefined };

export const begun = (id: string) => ({ id, ...byOperator });

/** Uploads and serves one deploy in a single step. */
export const publish = (site: Site, deployId: string): Decision<Site, SitesEvent> => {
  const { state } = startDeploy(site, begun(deployId), later(0));
  return deploySucceeded(state, deployId, { files: 1, bytes: 1 }, later(0));
};

/** A text that looks like a certificate, different each time. */
export const certificateFor = (host: string, draft: Partial<Certificate> = {}): Certificate => ({
  host,
  chain: pem('CERTIFICATE', ids.next('leaf')),
  privateKey: pem('PRIVATE KEY', ids.next('private')),
  notBefore: later(0),
  notAfter: later(90 * 86_400_000),
  ...draft,
});

const pem = (label: string, content: string): string =>
  `-----BEGIN ${label}-----\n${content}\n-----END ${label}-----\n`;
