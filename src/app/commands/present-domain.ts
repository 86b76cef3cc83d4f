import { isReadyAt } from '../../domains/domain/attachment/serving.ts';
import {
  nextStepAt,
  statusOf,
  type CertificateStatus,
  type WantedWork,
  type Attempts,
} from '../../domains/domain/certificates/certificate-status.ts';
import type {
  Attachment,
  CustomDomain,
  CustomDomainState,
  OwnFact,
} from '../../domains/domain/attachment/custom-domain.ts';
import { isAtApex } from '../../domains/domain/dns/judgement.ts';
import type { TimelineEntry } from '../../domains/domain/attachment/timeline-entries.ts';
import type { DomainView } from '../../domains/use-cases/show-domain.ts';

/** A new field must be printed, or left out by name, or this does not compile. @param project slug */
export const presentDomain = (domain: CustomDomain, project: string) => {
  const { id, accountId, host, unicodeHost, token, generation, addedAt, dns, pause } = domain;
  return {
    project,
    ...({
      id,
      projectId: undefined,
      accountId,
      host,
      unicodeHost,
      registrableDomain: undefined,
      episodes: undefined,
      isApex: isAtApex(domain),
      token,
      generation,
      addedAt,
      dns,
      pause,
    } satisfies Every<keyof Attachment>),
    ...presentOwn(domain),
    certificate: presentCertificate(domain.certificate),
  };
};

type Every<Field extends PropertyKey> = Readonly<Record<Field, unknown>>;

const presentOwn = (domain: CustomDomain) => {
  const { state } = domain;
  switch (state) {
    case 'added':
      return { state } satisfies Own<'added'>;
    case 'verified':
      return { state, verifiedAt: domain.verifiedAt } satisfies Own<'verified'>;
    case 'live': {
      const { verifiedAt, liveSince } = domain;
      return { state, verifiedAt, liveSince } satisfies Own<'live'>;
    }
    case 'removed': {
      const { removedAt, reason } = domain;
      return { state, removedAt, reason } satisfies Own<'removed'>;
    }
  }
};

type Own<State extends CustomDomainState> = Every<OwnFact<State> | 'state'>;

export const presentCertificate = (certificate: CertificateStatus) => {
  const status = statusOf(certificate);
  switch (certificate.kind) {
    case 'none':
      return { status, waitsForDns: false, isManual: false, isOrdered: false };
    case 'wanted':
      return { status, ...presentWork(certificate.work) };
    case 'issued': {
      const { kind: _, hasWindow: _window, work, ...facts } = certificate;
      return { status, ...presentWork(work), ...facts };
    }
  }
};

const presentWork = (work: WantedWork) => {
  const { isManual = false, retryAt } = work.attempts ?? {};
  return {
    attempts: work.attempts && presentAttempts(work.attempts),
    nextAttemptAt: nextStepAt(work),
    waitsForDns: work.step === 'waits_for_dns',
    isManual,
    retryAt,
    problem: work.problem,
    isOrdered: work.step === 'ordered',
  };
};

const presentAttempts = ({ failed, firstAt, lastAt }: Attempts) => ({ failed, firstAt, lastAt });

export const presentView = (
  { records, bind, hints, problems, health, budget, nextAt }: DomainView,
  timeline: readonly TimelineEntry[],
) => ({
  records,
  bind,
  hints,
  problems,
  health: health ?? null,
  budget,
  nextAt: nextAt ?? null,
  timeline: timeline.map(presentTimeline),
});

const presentTimeline = ({ kind, occurredAt, details }: TimelineEntry) => ({
  kind,
  occurredAt,
  ...details,
});

/** @returns undefined if the domain is not ready */
export const readyInWords = (domain: CustomDomain, now: Date): string | undefined =>
  isReadyAt(domain, now)
    ? `Certificate ready, valid until ${domain.certificate.notAfter.toISOString()}: point your DNS here whenever you like.`
    : undefined;
