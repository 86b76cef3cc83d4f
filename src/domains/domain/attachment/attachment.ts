import type { DnsStanding } from '../dns/standing.ts';
import type { Hostname } from '../names/hostname.ts';

/** One attachment of a name to a project: adding it again makes a new one. */
export interface Attachment extends Pick<Hostname, 'host' | 'registrableDomain' | 'isApex'> {
  readonly id: string;
  readonly accountId: string;
  readonly projectId: string;
  readonly unicodeHost: string;
  /** A DNS label in lower case, never used for another attachment. */
  readonly token: string;
  /** How many orders were begun. Late results of earlier ones are ignored. */
  readonly generation: number;
  readonly addedAt: Date;
  readonly dns: DnsStanding;
}

/** A domain without what belongs to its state. A new field does not compile until it is carried over here. */
export const attachmentOf = (domain: Attachment): Attachment => {
  const { id, accountId, projectId, host, unicodeHost, registrableDomain, isApex } = domain;
  const { token, generation, addedAt, dns } = domain;
  return {
    ...{ id, accountId, projectId, host, unicodeHost, registrableDomain, isApex },
    ...{ token, generation, addedAt, dns },
  } satisfies Readonly<Record<keyof Attachment, unknown>>;
};

export const about = (
  { accountId, projectId, id }: Pick<Attachment, 'id' | 'accountId' | 'projectId'>,
  now: Date,
) => ({
  accountId,
  occurredAt: now,
  projectId,
  domainId: id,
});
