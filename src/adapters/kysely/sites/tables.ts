import * as v from 'valibot';
import { customDomainStates } from '../../../domains/domain/attachment/custom-domain.ts';
import type { DomainShare } from '../../../domains/domain/attachment/share.ts';
import { timelineKinds } from '../../../domains/domain/attachment/timeline-entries.ts';
import type { Certificate } from '../../../domains/domain/certificates/renewal.ts';
import { ledgerKinds, type LedgerEntry } from '../../../domains/domain/certificates/ca-budget.ts';
import {
  redirectStatuses,
  type DomainSettings,
  type Redirect,
} from '../../../domains/domain/redirects/settings.ts';
import type { DnsChallenge } from '../../../domains/certificate-ports.ts';
import type { OwnName } from '../../../domains/domain/own/own-name.ts';
import { deployStates } from '../../../sites/domain/site.ts';
import type { Project } from '../../../sites/domain/project.ts';
import type { FormerSlug } from '../../../sites/domain/project-life.ts';
import { uploadProblems } from '../../../sites/domain/sites-error.ts';
import {
  actor,
  assigned,
  flag,
  int,
  int64,
  json,
  maybe,
  perhaps,
  text,
  time,
  word,
  table,
  type Entries,
  type ColumnsOf,
} from '../table.ts';
import { issued, wanted } from './custom-domain-details.ts';

const redirect = v.object({
  from: v.string(),
  to: v.string(),
  status: v.picklist(redirectStatuses),
} satisfies Entries<Redirect>);

const settings = v.object({
  primary: perhaps(v.nullable(v.string())),
  redirects: v.array(redirect),
} satisfies Entries<DomainSettings>);

export const projects = table({
  id: text,
  accountId: text,
  name: text,
  slug: text,
  createdAt: time,
  deletedAt: maybe(time),
  servedDeployId: maybe(text),
  servedSince: maybe(time),
  /** The highest number ever, including deleted deploys. */
  lastNumber: int,
  domainSettings: maybe(json<DomainSettings>(settings)),
} satisfies ColumnsOf<Project, 'servedDeployId' | 'servedSince' | 'lastNumber' | 'domainSettings'>);

export const formerSlugs = table({
  slug: text,
  projectId: text,
  until: time,
} satisfies ColumnsOf<FormerSlug, 'projectId'>);

export const deploys = table({
  id: text,
  projectId: text,
  number: int,
  madeBy: actor,
  message: maybe(text),
  state: word(deployStates),
  startedAt: time,
  finishedAt: maybe(time),
  files: maybe(int),
  bytes: maybe(int),
  problem: maybe(word(uploadProblems)),
  explanation: maybe(text),
});

/** A removed route stays with `removedAt`, so that every edge learns of the removal. Certificates work alike. */
export const routes = table({
  name: text,
  projectId: text,
  deployId: maybe(text),
  redirectTo: maybe(text),
  redirectStatus: maybe(int),
  revision: int64,
  removedAt: maybe(time),
});

export const certificates = table({
  host: text,
  chain: maybe(text),
  privateKey: maybe(text),
  sealedBy: maybe(text),
  notBefore: maybe(time),
  notAfter: maybe(time),
  revision: int64,
  removedAt: maybe(time),
} satisfies ColumnsOf<
  Pick<Certificate, 'host'> & Partial<Omit<Certificate, 'host'>>,
  'sealedBy' | 'revision' | 'removedAt'
>);

export const edgeRevision = table({ id: int64, revision: int64, publicPort: maybe(int) });

export const domains = table({
  id: text,
  accountId: text,
  projectId: text,
  host: text,
  /** Set until the domain is removed; unique within a project. */
  attachedHost: maybe(text),
  /** Set while the domain is verified or live; unique over all accounts. */
  provenHost: maybe(text),
  unicodeHost: text,
  token: text,
  state: word(customDomainStates),
  generation: int,
  addedAt: time,
  /** JSON of the other fields. */
  details: text,
  /** Index in `attentions`. */
  attention: int,
  attentionAt: time,
  dueAt: maybe(time),
  claim: maybe(text),
  claimedUntil: maybe(time),
});

export const domainTimeline = table({
  id: assigned,
  domainId: text,
  kind: word(timelineKinds),
  details: text,
  occurredAt: time,
});

export const certificateOrders = table({
  authority: text,
  subject: text,
  host: text,
  privateKey: text,
  sealedBy: text,
  url: maybe(text),
  token: maybe(text),
  keyAuthorization: maybe(text),
});

type OwnDetails = Omit<OwnName, 'host' | 'generation'>;

export const ownNames = table({
  host: text,
  generation: int,
  details: json<OwnDetails>(
    v.object({
      certificate: v.variant('kind', [wanted, issued]),
    } satisfies Entries<OwnDetails>),
  ),
});

export const dnsChallenges = table({
  label: text,
  value: text,
  subject: text,
  expiresAt: time,
} satisfies ColumnsOf<DnsChallenge, 'subject'>);

export const authorityAccounts = table({
  directoryUrl: text,
  url: text,
  privateKey: text,
  sealedBy: text,
});

export const authorityLedger = table({
  id: assigned,
  kind: word(ledgerKinds),
  orderKey: text,
  authority: text,
  accountId: text,
  host: text,
  registrableDomain: text,
  isManual: flag,
  occurredAt: time,
} satisfies ColumnsOf<LedgerEntry, 'id'>);

export const authorityTurn = table({ id: int64, turn: int64 });

export const domainShares = table({
  id: text,
  accountId: text,
  domainId: text,
  /** SHA-256 of the secret. */
  secretHash: text,
  createdAt: time,
  endsAt: time,
} satisfies ColumnsOf<DomainShare, 'secretHash'>);
