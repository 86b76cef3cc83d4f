import { type Decision, DomainError } from '../../../kernel/decision.ts';
import type { DomainsErrorCode } from '../domains-error.ts';
import type { DomainsEvent } from '../domains-event.ts';
import { shownHost, type Hostname } from '../names/hostname.ts';
import { hindranceTo } from './redirects.ts';
import {
  replaceSettings,
  withoutGone,
  type DomainSettings,
  type Redirect,
  hostIn,
} from './settings.ts';
import {
  whyNotAdmitted,
  type AdmissionFacts,
  type DomainAllowance,
  type Moment,
  addDomain,
  type DomainDecision,
  type DomainDraft,
} from '../attachment/custom-domain.ts';
import { projectHostsOf, type ProjectHost } from '../attachment/serving.ts';

export interface Pair<Each> {
  readonly typed: Each;
  readonly other?: Each | undefined;
}

export interface AddFacts extends Pair<Omit<AdmissionFacts, 'allowance'>> {
  readonly settings: DomainSettings;
  readonly hosts: readonly ProjectHost[];
}

export interface AddDecision extends Pair<DomainDecision> {
  readonly settings: DomainSettings;
  /** Of the domains and the settings. */
  readonly events: readonly DomainsEvent[];
}

/** Adds all names, or none, and redirects the other one if possible. @throws DomainError like `admitDomain` */
export const addDomains = (
  drafts: Pair<DomainDraft>,
  facts: AddFacts & { readonly allowance: DomainAllowance },
  moment: Moment,
): AddDecision => {
  const { now } = moment;
  const { settings, allowance } = facts;
  const first = { ...facts.typed, allowance };
  if (!drafts.other || !facts.other) {
    const typed = addDomain(drafts.typed, first, moment);
    return { typed, settings, events: typed.events };
  }
  const alone = { ...facts.other, allowance };
  const { current, addedLately } = alone;
  const beside = { ...alone, current: current + 1, addedLately: [now, ...addedLately] };
  admitPair(
    { typed: drafts.typed.hostname, other: drafts.other.hostname },
    { typed: first, other: beside, alone },
    now,
  );
  const typed = addDomain(drafts.typed, first, moment);
  const other = addDomain(drafts.other, beside, moment);
  const { state, events } = redirected({ typed, other }, facts, now);
  return { typed, other, settings: state, events: [...typed.events, ...other.events, ...events] };
};

interface Both<Each> extends Pair<Each> {
  readonly other: Each;
}

const admitPair = (
  { typed, other }: Both<Hostname>,
  facts: Both<AdmissionFacts> & { readonly alone: AdmissionFacts },
  now: Date,
): void => {
  const refusal = whyNotAdmitted(typed, facts.typed, now);
  if (refusal)
    throw refused(refusal, whyNotAdmitted(other, facts.alone, now) ? [] : [other, typed]);
  const second = whyNotAdmitted(other, facts.other, now);
  if (second) throw refused(second, [typed, other]);
};

type Refusal = NonNullable<ReturnType<typeof whyNotAdmitted>>;

const refused = (
  [code, message]: Refusal,
  [possible, without]: readonly Hostname[],
): DomainError<DomainsErrorCode> => {
  const hint =
    possible && without
      ? ` You can add ${shownHost(possible)} alone, without ${shownHost(without)}.`
      : '';
  return new DomainError(code, `${message}${hint}`);
};

/** Keeps redirects of removed domains, because the domains may return, except those that conflict with the pair. */
const redirected = (
  { typed, other }: Both<DomainDecision>,
  { settings, hosts }: AddFacts,
  now: Date,
): Decision<DomainSettings, DomainsEvent> => {
  const { accountId, projectId, host: to } = typed.state;
  const redirect = { from: other.state.host, to, status: 308 } as const;
  const awake = withoutGone(settings, hosts);
  const all = [...hosts, ...projectHostsOf([typed.state, other.state])];
  const isFree = hindranceTo(redirect, awake, { hosts: all }) === undefined;
  const kept = settings.redirects.filter(
    (one) => awake.redirects.includes(one) || !concerns(one, [redirect.from, to]),
  );
  const wanted = { ...awake, redirects: isFree ? [...kept, redirect] : kept };
  return replaceSettings(settings, wanted, { accountId, projectId, now });
};

const concerns = ({ from, to }: Redirect, names: readonly string[]): boolean =>
  names.includes(from) || names.includes(hostIn(to));
