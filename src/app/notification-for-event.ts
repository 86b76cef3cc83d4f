import { domainToUnicode } from 'node:url';
import type { Access } from '../access/access.ts';
import { isProblemCode, problemTitles } from '../domains/domain/dns/problem.ts';
import { proofOf } from '../domains/domain/dns/records.ts';
import { shownHost } from '../domains/domain/names/hostname.ts';
import type { StoredEvent } from '../kernel/decision.ts';
import { ownDoings } from '../notifications/domain/kinds.ts';
import type { Notification, NotificationContent } from '../notifications/domain/notification.ts';
import type { Sites } from '../sites/sites.ts';
import type { AnyEvent, EventTo } from './subscriptions.ts';

export interface Named {
  readonly sites: Pick<Sites, 'listProjects' | 'getSite'>;
  readonly access: Pick<Access, 'isInService' | 'listApiKeys'>;
}

type EventOf<Type> = Extract<AnyEvent, { type: Type }>;

type Tell<Event> = (
  event: Event,
  named: Named,
  actor: StoredEvent['actor'],
) => Promise<NotificationContent | undefined>;

/** The notice for each event that `subscriptions` sends to `notices`. A missing entry does not compile. */
const tells: { readonly [Type in EventTo<'notices'>]: Tell<EventOf<Type>> } = {
  domain_live: async (event, named) => ({
    kind: 'domain.live',
    about: await ofHost(event, named),
  }),
  domain_removed: async (event, named) => {
    const about = await ofHost(event, named);
    if (event.reason === 'contested')
      return {
        kind: 'domain.contested',
        about: { ...about, isTaken: true, proof: proofOf(event.host) },
      };
    return { kind: event.reason === 'expired' ? 'domain.expired' : 'domain.removed', about };
  },
  domain_contested: async (event, named) => ({
    kind: 'domain.contested',
    about: {
      ...(await ofHost(event, named)),
      isTaken: false,
      proof: proofOf(event.host),
      ...(event.wildcard !== undefined && { wildcard: nameOf(event.wildcard) }),
    },
  }),
  domain_unhealthy: async (event, named) => ({
    kind: 'domain.unhealthy',
    about: { ...(await ofHost(event, named)), ...troubleOf(event) },
  }),
  domain_recovered: async (event, named) => ({
    kind: 'domain.recovered',
    about: await ofHost(event, named),
  }),
  certificate_failing: async (event, named) => ({
    kind: 'certificate.failing',
    about: {
      ...(await ofHost(event, named)),
      ...troubleOf(event),
      ...(event.expiresAt !== '' && { expiresAt: event.expiresAt }),
    },
  }),
  certificate_recovered: async (event, named) => ({
    kind: 'certificate.recovered',
    about: { ...(await ofHost(event, named)), expiresAt: event.expiresAt },
  }),
  project_deleted: ({ slug: project, name, until }) =>
    Promise.resolve({ kind: 'project.deleted', about: { project, name, until } }),
  deploy_failed: async (event, named, actor) => {
    if (actor.startsWith('person:')) return undefined;
    const { number, deployId } = event;
    const project = await slugOf(event, named);
    const { deploys } = await named.sites.getSite(project);
    const deploy = deploys.find(({ id }) => id === deployId);
    const explanation =
      deploy?.state === 'failed' ? deploy.explanation : 'Its details were deleted.';
    return { kind: 'deploy.failed', about: { project, number, explanation } };
  },
  api_key_banned: async ({ accountId, keyId, until }, { access }) => {
    const key = (await access.listApiKeys(accountId)).find(({ id }) => id === keyId);
    return { kind: 'key.banned', about: { keyId, name: key?.name ?? keyId, until } };
  },
  quota_warning: ({ used, limit, resetsAt }) =>
    Promise.resolve({ kind: 'quota.warning', about: { used, limit, resetsAt } }),
  quota_reached: ({ used, limit, resetsAt }) =>
    Promise.resolve({ kind: 'quota.reached', about: { used, limit, resetsAt } }),
  operation_removal: ({ operation, removedAt, days }) =>
    Promise.resolve({ kind: 'operation.removal', about: { operation, removedAt, days } }),
  webhook_switched_off: ({ webhookId, receiver, reason }) =>
    // The person who switched it off already knows.
    Promise.resolve(
      reason === 'by_hand'
        ? undefined
        : { kind: 'webhook.off', about: { webhookId, receiver, reason } },
    ),
};

/** @returns undefined if nobody needs to know, or the subject was deleted */
export const notificationOf = async (
  { id, actor, event }: StoredEvent,
  named: Named,
): Promise<Notification | undefined> => {
  if (!(await named.access.isInService(event.accountId))) return undefined;
  if (isOfProject(event) && !(await hasProject(event, named))) return undefined;
  const tell = tells[event.type as keyof typeof tells] as Tell<StoredEvent['event']>;
  const told = await tell(event, named, actor);
  const { accountId, occurredAt } = event;
  return told && { ...told, id, accountId, occurredAt, by: doneBy(told, actor) };
};

const doneBy = ({ kind }: NotificationContent, actor: StoredEvent['actor']): string | undefined => {
  const isDoing = ownDoings.some((one) => one === kind);
  return isDoing && actor.startsWith('person:') ? actor.slice('person:'.length) : undefined;
};

interface OfProject {
  readonly accountId: string;
  readonly projectId: string;
}

const isOfProject = (event: StoredEvent['event']): event is StoredEvent['event'] & OfProject =>
  'projectId' in event && event.type !== 'project_deleted';

const hasProject = async ({ accountId, projectId }: OfProject, { sites }: Named) =>
  (await sites.listProjects(accountId)).some(({ id }) => id === projectId);

const slugOf = async ({ accountId, projectId }: OfProject, { sites }: Named): Promise<string> => {
  const project = (await sites.listProjects(accountId)).find(({ id }) => id === projectId);
  if (!project) throw new Error(`account ${accountId} has no project ${projectId}`);
  return project.slug;
};

const ofHost = async (event: OfProject & { readonly host: string }, named: Named) => {
  const { host } = event;
  return { project: await slugOf(event, named), host, name: nameOf(host) };
};

const nameOf = (host: string): string =>
  shownHost({ host, unicode: domainToUnicode(host) || host });

const troubleOf = ({
  problem,
  actor,
  fix,
}: EventOf<'domain_unhealthy' | 'certificate_failing'>) => ({
  problem,
  actor,
  fix,
  title: isProblemCode(problem) ? problemTitles[problem] : 'We do not know why yet',
});
