import { ownersKinds } from './kinds.ts';
import type { Notification, OwnersFacts, OwnersKind } from './notification.ts';

const ofHost = ({ project, host }: OwnersFacts['domain.live']) => ({ project, host });
const ofTrouble = (about: OwnersFacts['domain.unhealthy']) => {
  const { problem, actor, title, fix } = about;
  return { ...ofHost(about), problem, actor, title, fix };
};
const ofQuota = ({ used, limit, resetsAt }: OwnersFacts['quota.warning']) => {
  return { used, limit, resetsAt };
};

/** `data` of a message, by kind. Listed field by field, so that new facts for people do not change the API. */
const data = {
  'domain.live': ofHost,
  'domain.removed': ofHost,
  'domain.expired': ofHost,
  'domain.contested': (about: OwnersFacts['domain.contested']) => {
    return { ...ofHost(about), taken: about.isTaken };
  },
  'domain.unhealthy': ofTrouble,
  'domain.recovered': ofHost,
  'certificate.failing': (about: OwnersFacts['certificate.failing']) => {
    return { ...ofTrouble(about), expiresAt: about.expiresAt ?? null };
  },
  'certificate.recovered': (about: OwnersFacts['certificate.recovered']) => {
    return { ...ofHost(about), expiresAt: about.expiresAt };
  },
  'project.deleted': ({ project, name, until }: OwnersFacts['project.deleted']) => {
    return { project, name, until };
  },
  'deploy.failed': ({ project, number, explanation }: OwnersFacts['deploy.failed']) => {
    return { project, number, explanation };
  },
  'key.banned': ({ keyId, name, until }: OwnersFacts['key.banned']) => {
    return { keyId, name, until };
  },
  'quota.warning': ofQuota,
  'quota.reached': ofQuota,
  'operation.removal': ({ operation, removedAt, days }: OwnersFacts['operation.removal']) => {
    return { operation, removedAt, days };
  },
  'webhook.off': ({ webhookId, receiver, reason }: OwnersFacts['webhook.off']) => {
    return { webhookId, receiver, reason };
  },
} satisfies { readonly [Kind in OwnersKind]: (about: OwnersFacts[Kind]) => object };

interface OfAccount {
  readonly accountId: string;
}

export type Payloads = {
  readonly [Kind in OwnersKind]: OfAccount & Readonly<ReturnType<(typeof data)[Kind]>>;
} & {
  /** Sent to one webhook on request. */
  readonly 'test.ping': OfAccount & { readonly webhookId: string };
};

export type MessageType = keyof Payloads;
export const messageTypes: readonly MessageType[] = [...ownersKinds, 'test.ping'];

/** The body as in Standard Webhooks. */
export interface Payload<Type extends MessageType = MessageType> {
  readonly type: Type;
  readonly timestamp: string;
  readonly data: Payloads[Type];
}

export type OwnersNotification = Extract<Notification, { kind: OwnersKind }>;

export const payload = ({ kind, about, accountId, occurredAt }: OwnersNotification): Payload => {
  const of = data[kind] as (facts: typeof about) => object;
  return {
    type: kind,
    timestamp: occurredAt.toISOString(),
    data: { accountId, ...of(about) } as Payloads[typeof kind],
  };
};

export const ping = (
  { id, accountId }: { readonly id: string; readonly accountId: string },
  now: Date,
): Payload<'test.ping'> => ({
  type: 'test.ping',
  timestamp: now.toISOString(),
  data: { accountId, webhookId: id },
});
