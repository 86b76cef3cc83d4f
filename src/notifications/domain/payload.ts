import { ownersKinds } from './kinds.ts';
import type {
  GivenUpReason,
  Notification,
  OwnersFacts,
  OwnersKind,
  Responsible,
} from './notification.ts';

interface OfAccount {
  readonly accountId: string;
}

interface OfHost extends OfAccount {
  readonly project: string;
  readonly host: string;
}

interface OfQuota extends OfAccount {
  readonly used: number;
  readonly limit: number;
  readonly resetsAt: string;
}

interface OfTrouble extends OfHost {
  readonly problem: string;
  readonly actor: Responsible;
  readonly title: string;
  readonly fix: string;
}

/** `data` of a webhook message, by kind. Times are ISO 8601. */
export interface Payloads {
  'domain.live': OfHost;
  'domain.removed': OfHost;
  'domain.expired': OfHost;
  'domain.contested': OfHost & { readonly taken: boolean };
  'domain.unhealthy': OfTrouble;
  'domain.recovered': OfHost;
  /** `expiresAt` is null for the first certificate. */
  'certificate.failing': OfTrouble & { readonly expiresAt: string | null };
  'certificate.recovered': OfHost & { readonly expiresAt: string };
  'project.deleted': OfAccount & {
    readonly project: string;
    readonly name: string;
    readonly until: string;
  };
  'deploy.failed': OfAccount & {
    readonly project: string;
    readonly number: number;
    readonly explanation: string;
  };
  'key.banned': OfAccount & {
    readonly keyId: string;
    readonly name: string;
    readonly until: string;
  };
  'quota.warning': OfQuota;
  'quota.reached': OfQuota;
  'operation.removal': OfAccount & {
    readonly operation: string;
    readonly removedAt: string;
    readonly days: number;
  };
  'webhook.off': OfAccount & {
    readonly webhookId: string;
    readonly receiver: string;
    readonly reason: GivenUpReason;
  };
  /** Sent to one webhook on request. */
  'test.ping': OfAccount & { readonly webhookId: string };
}

export type MessageType = keyof Payloads;
export const messageTypes: readonly MessageType[] = [...ownersKinds, 'test.ping'];

type Data = {
  readonly [Kind in OwnersKind]: (about: OwnersFacts[Kind]) => Omit<Payloads[Kind], 'accountId'>;
};

const ofHost = ({ project, host }: OwnersFacts['domain.live']) => ({ project, host });
const ofTrouble = (about: OwnersFacts['domain.unhealthy']) => {
  const { problem, actor, title, fix } = about;
  return { ...ofHost(about), problem, actor, title, fix };
};
const ofQuota = ({ used, limit, resetsAt }: OwnersFacts['quota.warning']) => ({
  ...{ used, limit, resetsAt },
});

/** Listed field by field, so that new facts for people do not change the API. */
const data: Data = {
  'domain.live': ofHost,
  'domain.removed': ofHost,
  'domain.expired': ofHost,
  'domain.contested': (about) => ({ ...ofHost(about), taken: about.isTaken }),
  'domain.unhealthy': ofTrouble,
  'domain.recovered': ofHost,
  'certificate.failing': (about) => ({
    ...ofTrouble(about),
    expiresAt: about.expiresAt ?? null,
  }),
  'certificate.recovered': (about) => ({ ...ofHost(about), expiresAt: about.expiresAt }),
  'project.deleted': ({ project, name, until }) => ({ project, name, until }),
  'deploy.failed': ({ project, number, explanation }) => ({ project, number, explanation }),
  'key.banned': ({ keyId, name, until }) => ({ keyId, name, until }),
  'quota.warning': ofQuota,
  'quota.reached': ofQuota,
  'operation.removal': ({ operation, removedAt, days }) => ({ operation, removedAt, days }),
  'webhook.off': ({ webhookId, receiver, reason }) => ({ webhookId, receiver, reason }),
};

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
