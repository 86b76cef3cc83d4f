import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container } from 'inversify';
import pino from 'pino';
import { Database } from '../src/adapters/kysely/database.ts';
import { loadConfig } from '../src/app/settings/config.ts';
import { openContainer } from '../src/app/container.ts';
import { AccessKey } from '../src/app/keys.ts';
import { Ids } from '../src/kernel/ids.ts';
import type { Certificate } from '../src/domains/domain/certificates/renewal.ts';
import { createProject } from '../src/sites/domain/project.ts';
import { deploySucceeded, startDeploy } from '../src/sites/domain/site.ts';
import { Projects, SiteFiles } from '../src/sites/ports.ts';
import { CertificateAuthority, Certificates } from '../src/domains/certificate-ports.ts';

const atOnce = 500;
const now = new Date();

export interface SeededSites {
  /** The root that signed the sites' certificates, in PEM. */
  readonly root: string;
  /** Another one for the first host. */
  readonly certificate: Certificate;
}

export const hostPattern = 'site-%.sites.test';
export const platformHost = 'sites.test';
export const hostNumber = (number: number): string => hostPattern.replace('%', String(number));

/** Sites that are published and have their certificates, all with the same files. */
export const seedSites = async (
  environment: Readonly<Record<string, string>>,
  count: number,
  files: Readonly<Record<string, Uint8Array>>,
): Promise<SeededSites> => {
  const config = loadConfig({ ...environment, PLATFORM_HOST: platformHost });
  const container = await openContainer(config, pino({ level: 'silent' }));
  try {
    const { account } = await container.get(AccessKey).createAccount({
      name: 'Bench',
      email: 'bench@animal-store.test',
      plan: 'free',
    });
    const model = container.get(Ids).next('dep');
    await storeFiles(container, model, files);
    const bytes = Object.values(files).reduce((sum, content) => sum + content.length, 0);
    const contents = { files: Object.keys(files).length, bytes };
    for (let first = 0; first < count; first += atOnce) {
      const numbers = Array.from({ length: Math.min(atOnce, count - first) }, (_, n) => first + n);
      const deployIds = await publish(container, account.id, numbers, contents);
      // A folder for each would be compressed for minutes.
      for (const id of deployIds) await symlink(model, join(config.dataDir, 'deploys', id));
    }
    const certificate = await issue(container.get(CertificateAuthority), hostNumber(0));
    return { root: await readFile(join(config.dataDir, 'local-ca.pem'), 'utf8'), certificate };
  } finally {
    await container.unbindAllAsync();
  }
};

/** The local authority asks for no proof, so that a certificate is there at the first look. */
const issue = async (authority: CertificateAuthority, host: string): Promise<Certificate> => {
  const privateKey = await authority.newPrivateKey();
  const order = await authority.order(host);
  if (order.kind !== 'ordered') throw new Error(JSON.stringify(order));
  const state = await authority.look({
    ...{ host, url: order.url, privateKey },
    method: 'http-01',
  });
  if (state.kind !== 'issued') throw new Error(`no certificate for ${host}: ${state.kind}`);
  return state.certificate;
};

const storeFiles = async (
  container: Container,
  deployId: string,
  files: Readonly<Record<string, Uint8Array>>,
): Promise<void> => {
  const draft = await container.get(SiteFiles).begin(deployId);
  for (const [path, content] of Object.entries(files)) await draft.write(path, once(content));
  await draft.commit(() => undefined);
};

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield content;
}

/** @returns the ids of the deploys, whose files are not there yet */
const publish = async (
  container: Container,
  accountId: string,
  numbers: readonly number[],
  contents: { readonly files: number; readonly bytes: number },
): Promise<readonly string[]> => {
  const [ids, projects] = [container.get(Ids), container.get(Projects)];
  const certificates = container.get(Certificates);
  // One for all: these visitors do not verify it, and issuing takes a millisecond each.
  const certificate = await issue(container.get(CertificateAuthority), hostNumber(0));
  const deployIds = numbers.map(() => ids.next('dep'));
  await container.get(Database).transaction(async () => {
    for (const [at, number] of numbers.entries()) {
      const slug = `site-${String(number)}`;
      const project = createProject({ id: ids.next('proj'), accountId, name: slug, slug }, now);
      await projects.add(accountId, () => ({ ...project, events: [] }));
      await projects.change({ accountId, slug }, (site) => {
        const deployId = deployIds[at] ?? '';
        const started = startDeploy(site, deployId, now).state;
        return { ...deploySucceeded(started, deployId, contents, now), events: [] };
      });
    }
    for (const n of numbers) await certificates.save({ ...certificate, host: hostNumber(n) });
  });
  return deployIds;
};
