import type { IncomingMessage } from 'node:http';
import type { Access } from '../../../access/access.ts';
import type { IdempotencyKeys, IdempotentRequest, KeptAnswer } from '../../../access/ports.ts';
import type { Caller } from '../../../access/use-cases/callers.ts';
import type { Clock } from '../../../kernel/ports.ts';
import type { Project } from '../../../sites/domain/project.ts';
import { deployMessage, keptDeploys, type Deploy, type Site } from '../../../sites/domain/site.ts';
import { projectNotFound } from '../../../sites/domain/sites-error.ts';
import type { Sites } from '../../../sites/sites.ts';
import type { BegunDeploy } from '../../../sites/use-cases/deploy-site.ts';
import type { Answer } from '../answer.ts';
import { RequestError } from '../error-table.ts';
import { identify } from '../rate-limits.ts';
import type { Call, RoutedOperation } from './operation.ts';
import {
  fingerprintOf,
  idempotencyKeyOf,
  replayed,
  stillRunning,
  storedIn,
} from './operation-route.ts';

interface Received {
  readonly hash: string;
  readonly unpack: (begun: BegunDeploy) => Promise<Deploy>;
}

export interface DeployRoutes {
  readonly access: Pick<Access, 'authenticate'>;
  readonly sites: Pick<Sites, 'siteOf' | 'beginDeploy' | 'giveUpDeploy'>;
  readonly uploads: {
    /** Receives the body and lends it to `work` while that runs. @throws DomainError with an `UploadRefusal` */
    takeBody<T>(
      project: Project,
      request: IncomingMessage,
      work: (received: Received) => Promise<T>,
    ): Promise<T>;
    /** Reads and discards the body for a while, so that its sender receives the answer. */
    discard(request: IncomingMessage): void;
  };
  readonly addresses: {
    readonly urlOf: (slug: string) => string;
    /** @returns undefined if deploys have no addresses */
    readonly previewOf: (slug: string, number: number) => Promise<string | undefined>;
  };
  readonly idempotencyKeys: IdempotencyKeys;
  readonly clock: Clock;
}

const id = 'deploySite';

/** Deploys of sites. Their paths are below the origin, because the catalogue API's version does not apply to them. */
export const deployOperations = (routes: DeployRoutes): readonly RoutedOperation[] => [
  {
    id,
    method: 'POST',
    path: '/{slug}',
    scope: 'deploys:write',
    handle: (call) => takeDeploy(routes, call),
  },
  {
    id: 'getDeploy',
    method: 'GET',
    path: '/{slug}/{number}',
    scope: 'deploys:write',
    handle: async ({ caller, parameters: { slug = '', number = '' } }) => {
      const site = await siteFor(routes, caller, slug);
      const deploy = site.deploys.find((one) => String(one.number) === number);
      if (!deploy) throw deployNotFound(slug, number);
      const served = deploy.id === site.servedDeployId;
      return {
        status: 200,
        body: { deploy: { ...(await present(routes, site, deploy)), served } },
      };
    },
  },
];

const takeDeploy = async (
  routes: DeployRoutes,
  { caller, parameters: { slug = '' }, request }: Call<unknown, unknown>,
): Promise<Answer> => {
  try {
    requireArchive(request);
    const key = idempotencyKeyOf(request);
    const site = await siteFor(routes, caller, slug);
    const origin = { madeBy: `key:${caller.keyId}`, message: messageIn(request) } as const;
    const begin = () => routes.sites.beginDeploy(site.project, origin);
    return await routes.uploads.takeBody(site.project, request, async ({ hash, unpack }) => {
      // The key may have been revoked while the archive arrived.
      await identify(request, routes.access);
      if (key === undefined) return ended(routes, site, await unpack(await begin()));
      const fingerprint = fingerprintOf(id, `${slug}\n${hash}`);
      const { accountId } = caller;
      const once = { accountId, key, fingerprint, now: routes.clock.now() };
      return deployOnce({ routes, site, once, begin, unpack });
    });
  } finally {
    routes.uploads.discard(request);
  }
};

interface OneDeploy {
  readonly routes: DeployRoutes;
  readonly site: Site;
  readonly once: IdempotentRequest;
  readonly begin: () => Promise<BegunDeploy>;
  readonly unpack: (begun: BegunDeploy) => Promise<Deploy>;
}

/** Milliseconds. A request that unpacks renews its claim, so an expired claim belongs to a process that died. */
const claim = { lasts: 30_000, renewedAfter: 10_000 };

interface Kept {
  readonly deployId: string;
  readonly claimedUntil: string;
}

const keptOf = (deployId: string, now: Date): KeptAnswer => {
  const claimedUntil = new Date(now.getTime() + claim.lasts).toISOString();
  return {
    status: 202,
    headers: {},
    body: JSON.stringify({ deployId, claimedUntil } satisfies Kept),
  };
};

/**
 * One transaction stores the key and begins the deploy. Unpacking takes too long for that transaction, so it runs
 * afterwards. A repeated request finds the deploy and its outcome; if the deploy was interrupted, it begins again.
 */
const deployOnce = async (one: OneDeploy): Promise<Answer> => {
  const { routes, site, once, begin } = one;
  const { sites, idempotencyKeys, clock } = routes;
  const outcome = await idempotencyKeys.once(once, async () => {
    const begun = await begin();
    return { ...keptOf(begun.id, clock.now()), begun };
  });
  if (outcome.kind === 'answered') {
    const { begun, ...answer } = outcome.answer;
    return ended(routes, site, await unpackClaimed(one, begun, answer));
  }
  const { answer } = storedIn(outcome);
  const { deployId, claimedUntil } = JSON.parse(answer.body) as Kept;
  const deploy = (await sites.siteOf(site.project)).deploys.find(({ id }) => id === deployId);
  if (!deploy) throw deployNotFound(site.project.slug, 'of that Idempotency-Key');
  const isUnderWay = deploy.state === 'uploading';
  if (isUnderWay && clock.now() < new Date(claimedUntil)) throw stillRunning();
  if (isUnderWay) await sites.giveUpDeploy(site.project, deployId);
  if (isUnderWay || isInterrupted(deploy)) {
    await idempotencyKeys.replace(once, answer, undefined);
    return deployOnce(one);
  }
  return ended(routes, site, deploy, replayed);
};

const isInterrupted = (deploy: Deploy): boolean =>
  deploy.state === 'failed' && deploy.problem === 'upload_interrupted';

const unpackClaimed = async (
  { routes: { idempotencyKeys, clock }, once, unpack }: OneDeploy,
  begun: BegunDeploy,
  kept: KeptAnswer,
): Promise<Deploy> => {
  let latest = kept;
  const renew = async (): Promise<void> => {
    const next = keptOf(begun.id, clock.now());
    if (await idempotencyKeys.replace(once, latest, next)) latest = next;
  };
  // The next renewal makes up for a failed one.
  const renewing = setInterval(() => void renew().catch(() => undefined), claim.renewedAfter);
  try {
    return await unpack(begun);
  } finally {
    clearInterval(renewing);
  }
};

/** @throws RequestError `deploy_refused` */
const ended = async (
  routes: DeployRoutes,
  site: Site,
  ...[deploy, headers = {}]: readonly [Deploy, Readonly<Record<string, string>>?]
): Promise<Answer> => {
  if (deploy.state === 'failed') {
    throw new RequestError('deploy_refused', deploy.explanation, headers);
  }
  return { status: 201, headers, body: { deploy: await present(routes, site, deploy) } };
};

const present = async ({ addresses }: DeployRoutes, { project }: Site, deploy: Deploy) => {
  const { number, state: status } = deploy;
  const has = deploy.state === 'succeeded' ? deploy : undefined;
  const previewUrl = has && (await addresses.previewOf(project.slug, number));
  return {
    number,
    status,
    files: has?.files ?? null,
    bytes: has?.bytes ?? null,
    url: addresses.urlOf(project.slug),
    previewUrl: previewUrl ?? null,
    ...(deploy.state === 'failed' && { reason: deploy.explanation }),
  };
};

/**
 * With a key for one project, other projects look alike whether they exist or not.
 * @throws DomainError `project_not_found`; RequestError `insufficient_scope`
 */
const siteFor = async (
  { sites }: Pick<DeployRoutes, 'sites'>,
  { accountId, projectId }: Caller,
  slug: string,
): Promise<Site> => {
  if (projectId === undefined) return sites.siteOf({ accountId, slug });
  const site = await sites.siteOf({ accountId, slug }).catch(unlessNotFound(slug));
  if (site?.project.id === projectId) return site;
  throw new RequestError(
    'insufficient_scope',
    'This key deploys to one project, and not to this one.',
  );
};

const unlessNotFound =
  (slug: string) =>
  (error: unknown): undefined => {
    if ((error as { code?: unknown }).code !== projectNotFound(slug).code) throw error;
  };

const deployNotFound = (slug: string, number: string): RequestError =>
  new RequestError(
    'deploy_not_found',
    `${slug} has no deploy ${number.slice(0, 40)}; the last ${String(keptDeploys)} are kept.`,
  );

const archiveTypes: readonly string[] = ['application/zip', 'application/gzip'];

/** @throws RequestError `unsupported_media_type` */
const requireArchive = ({ headers }: IncomingMessage): void => {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  const [media = ''] = type.split(';', 1);
  const isArchive = archiveTypes.includes(media.trim().toLowerCase());
  if (isArchive && encoding.toLowerCase() === 'identity') return;
  throw new RequestError(
    'unsupported_media_type',
    `Send the archive as "Content-Type: ${archiveTypes.join('" or "')}", without Content-Encoding.`,
  );
};

/** Node decodes headers as Latin-1, but tools send UTF-8. */
const messageIn = ({ headers }: IncomingMessage): string | undefined => {
  const sent = headers['x-deploy-message'];
  return sent === undefined
    ? undefined
    : deployMessage(Buffer.from(String(sent), 'latin1').toString());
};
