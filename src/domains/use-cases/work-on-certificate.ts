import {
  mayOrder,
  type CaUse,
  type Hold,
  type OrderKind,
  type WantedAttempt,
  type LedgerName,
} from '../domain/certificates/ca-budget.ts';
import {
  claimOrder,
  countedKind,
  countOrderAgain,
  heldUp,
  leaveOrder,
  loseOrder,
  mayReplace,
  orderedAt,
  orderOf,
  stillOrdered,
  subjectOf,
  takeOrderBack,
  unchangedWork,
  type CertificateWork,
  type WorkChange,
  type WorkOutcome,
} from '../domain/certificates/certificate-work.ts';
import { settleOrder } from '../domain/certificates/settle-order.ts';
import { isManual, isOrdered, longestWait } from '../domain/certificates/certificate-status.ts';
import type { DomainPorts } from '../ports.ts';
import {
  advanceOrder,
  type OrderOutcome,
  type OrderPorts,
  type OrderSubject,
  authorityFor,
  authorityNamed,
  type AuthorityPorts,
} from './advance-order.ts';

export type CertificatePorts = OrderPorts & Pick<DomainPorts, 'certificates' | 'ledger'>;

type Command = (work: CertificateWork | undefined) => WorkChange;

interface Changed {
  readonly work: CertificateWork | undefined;
  readonly outcome: WorkOutcome;
}

export interface Applicant {
  readonly find: () => Promise<CertificateWork | undefined>;
  readonly change: (command: Command) => Promise<Changed>;
  readonly changeCounted: (
    authority: string,
    command: (work: CertificateWork | undefined, use: CaUse) => WorkChange,
  ) => Promise<Changed>;
  /** The last check before a new order. @returns undefined if none may start now */
  readonly prepare: (work: CertificateWork) => Promise<CertificateWork | undefined>;
}

/**
 * Advances a certificate as far as possible now. An order with a known URL is continued. Otherwise a new one is
 * counted, because the authority may have created the first. A certificate that comes too late is destroyed with
 * its key.
 * @returns undefined if there is no order now
 * @throws Unavailable
 */
export const workOnCertificate =
  (ports: CertificatePorts, applicant: Applicant) =>
  async (known: CertificateWork): Promise<OrderOutcome | undefined> => {
    const work = await leftIfAway(ports, applicant, known);
    const order = (await isPlaced(ports, work))
      ? await continued(ports, work)
      : await begun(ports, applicant, work);
    if (!order) return undefined;
    const subject = await subjectFor(ports, applicant, order);
    const outcome = await advanceOrder(ports)(subject).catch(
      async (error: unknown): Promise<OrderOutcome> => {
        if (await subject.isWanted()) throw error;
        return { kind: 'unwanted' };
      },
    );
    if (outcome.kind === 'unwanted') return outcome;
    const issuers = (await authorityNamed(ports, orderedAt(order))?.issuers()) ?? [];
    const settled = { ordered: order, result: outcome, issuers };
    await applicant.change((current) => settleOrder(current, settled, ports.clock.now()));
    return outcome;
  };

const leftIfAway = async (
  { clock }: CertificatePorts,
  { change }: Applicant,
  known: CertificateWork,
): Promise<CertificateWork> => {
  const now = clock.now();
  if (leaveOrder(known, known, now).outcome.kind !== 'left') return known;
  return (await change((current) => leaveOrder(current, known, now))).work ?? known;
};

const isPlaced = async (
  { orders }: Pick<DomainPorts, 'orders'>,
  work: CertificateWork,
): Promise<boolean> => isOrdered(work) && (await orders.find(subjectOf(work)))?.url !== undefined;

const continued = async (
  ports: CertificatePorts,
  work: CertificateWork,
): Promise<CertificateWork | undefined> =>
  work.terms.isOurs && (await findHold(ports, work, continuing(work))) ? undefined : work;

export const holdOf = async (
  ports: AuthorityPorts & Pick<DomainPorts, 'orders' | 'ledger' | 'clock'>,
  work: CertificateWork,
): Promise<Hold | undefined> => {
  if (await isPlaced(ports, work)) return findHold(ports, work, continuing(work));
  const authority = authorityFor(ports, work, ports.clock.now()).name;
  return findHold(ports, work, { authority, kind: countedKind(work) });
};

const continuing = (work: CertificateWork) => ({
  authority: orderedAt(work),
  kind: work.terms.kinds.counted,
});

/** Reserves budget and generation in one step. @param known if it has an order, its answer was lost */
const begun = async (
  ports: CertificatePorts,
  applicant: Applicant,
  known: CertificateWork,
): Promise<CertificateWork | undefined> => {
  const work = isOrdered(known)
    ? (await applicant.change((current) => loseOrder(current, known))).work
    : known;
  if (!work) return undefined;
  const before = await attemptAt(ports, work);
  const hold = await findHold(ports, work, before);
  if (hold) {
    await waitForBudget(ports, applicant, { work, hold, attempt: before });
    return undefined;
  }
  const prepared = await applicant.prepare(work);
  if (!prepared) return undefined;
  const now = ports.clock.now();
  const isSame = authorityFor(ports, prepared, now).name === before.authority;
  const at = isSame ? before : await attemptAt(ports, prepared);
  const claimed = await applicant.changeCounted(at.authority, (current, use) =>
    claimOrder(current, { ...at, known: prepared, use }, now),
  );
  return claimed.outcome.kind === 'begun' ? claimed.work : undefined;
};

interface Attempt {
  readonly authority: string;
  readonly kind: OrderKind;
  readonly isSilent: boolean;
}

/** The issuing authority may no longer support RFC 9773, so we ask it now. */
const attemptAt = async (ports: CertificatePorts, work: CertificateWork): Promise<Attempt> => {
  const authority = authorityFor(ports, work, ports.clock.now());
  const chain = await replacedChain(ports, work, authority.name);
  const window = chain === undefined ? undefined : await authority.renewalWindow(chain);
  const kind = typeof window === 'object' ? 'exempt' : countedKind(work);
  return { authority: authority.name, kind, isSilent: window === 'silent' };
};

const replacedChain = async (
  { certificates }: Pick<DomainPorts, 'certificates'>,
  work: CertificateWork,
  authority: string,
): Promise<string | undefined> =>
  mayReplace(work, authority) ? (await certificates.find(work.terms.host))?.chain : undefined;

/** A budget may have room earlier than expected, if a counted order was never made. */
const longestHeldMs = 60 * 60_000;

const waitForBudget = async (
  { clock }: CertificatePorts,
  { changeCounted }: Applicant,
  { work, hold, attempt }: { work: CertificateWork; hold: Hold; attempt: Attempt },
): Promise<void> => {
  if (work.terms.also) return;
  const now = clock.now().getTime();
  // A silent authority may exempt the order later, so we ask again as after a failure.
  const silence = attempt.isSilent ? longestWait(work.certificate, new Date(now)) : Infinity;
  const longest = Math.min(work.terms.isOurs ? longestHeldMs : Infinity, silence);
  const nextAt = new Date(Math.min(hold.nextAt.getTime(), now + longest));
  await changeCounted(attempt.authority, (current) =>
    current ? heldUp(current, { ...hold, nextAt }) : unchangedWork,
  );
};

const findHold = async (
  { ledger, clock }: Pick<DomainPorts, 'ledger' | 'clock'>,
  work: CertificateWork,
  { authority, kind }: Pick<LedgerName, 'authority'> & Pick<WantedAttempt, 'kind'>,
): Promise<Hold | undefined> => {
  const now = clock.now();
  const { host, payer } = work.terms;
  const use = await ledger.use({ host, ...payer, authority }, now);
  const verdict = mayOrder(use, { isManual: isManual(work), kind }, now);
  return verdict.allowed ? undefined : { reason: verdict.reason, nextAt: verdict.nextAt };
};

const subjectFor = async (
  ports: CertificatePorts,
  applicant: Applicant,
  ordered: CertificateWork,
): Promise<OrderSubject> => {
  const { host, also, label } = ordered.terms;
  const authority = orderedAt(ordered);
  const method = orderOf(ordered)?.method ?? ordered.terms.methodAt(authority);
  return {
    authority,
    subject: subjectOf(ordered),
    host,
    also,
    proof: { method, label },
    replaces: await replacedChain(ports, ordered, authority),
    countAgain: () => countedAgain(ports, applicant, ordered),
    isWanted: async () => stillOrdered(await applicant.find(), ordered) !== undefined,
  };
};

const countedAgain = async (
  { clock }: CertificatePorts,
  { change, changeCounted }: Applicant,
  ordered: CertificateWork,
): Promise<Hold | undefined> => {
  const now = clock.now();
  await change(() => takeOrderBack(ordered));
  const { outcome } = await changeCounted(orderedAt(ordered), (_, use) =>
    countOrderAgain(ordered, use, now),
  );
  return outcome.kind === 'counted' ? outcome.hold : undefined;
};
