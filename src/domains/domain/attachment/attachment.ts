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
  readonly episodes: Episodes;
}

/** What stays wrong, and what its owner was told of that. */
export interface Episodes {
  readonly astray: Astray | undefined;
  readonly failing: FailingCertificate | undefined;
}

/** It is live and leads elsewhere. */
export interface Astray {
  /** When a check first showed it. */
  readonly since: Date;
  readonly isTold: boolean;
}

/** It does not get its certificate. */
export interface FailingCertificate {
  readonly toldAt: Date;
  /** When the certificate begins that has no successor; undefined if it is the first. */
  readonly notBefore: Date | undefined;
}

/** A domain without what belongs to its state. A new field does not compile until it is carried over here. */
export const attachmentOf = (domain: Attachment): Attachment => {
  const { id, accountId, projectId, host, unicodeHost, registrableDomain, isApex } = domain;
  const { token, generation, addedAt, dns, episodes } = domain;
  return {
    ...{ id, accountId, projectId, host, unicodeHost, registrableDomain, isApex },
    ...{ token, generation, addedAt, dns, episodes },
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
