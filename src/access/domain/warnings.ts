import type { Decision } from '../../kernel/decision.ts';
import type { AccessEvent } from './access-event.ts';
import type { Account, EndingOperation, Warnings } from './account.ts';
import { highUseLevels, type HighUse } from './rate-quota.ts';

type Warned = Decision<Account, AccessEvent>;

/** Tells each level once a day, and nothing of the lower one after the higher. It may be reported again and again. */
export const warnOfUse = (account: Account, use: HighUse, now: Date): Warned => {
  const { level, used, limit, resetsAt } = use;
  if (isTold(account.warnings.quota, use)) return { state: account, events: [] };
  const event = { accountId: account.id, occurredAt: now, used, limit };
  return {
    state: { ...account, warnings: { ...account.warnings, quota: { level, resetsAt } } },
    events: [{ type: `quota_${level}`, ...event, resetsAt: resetsAt.toISOString() }],
  };
};

/** A report of a day that is over comes too late. */
const isTold = (told: Warnings['quota'], { level, resetsAt }: HighUse): boolean => {
  if (!told || told.resetsAt < resetsAt) return false;
  if (told.resetsAt > resetsAt) return true;
  return highUseLevels.indexOf(told.level) >= highUseLevels.indexOf(level);
};

const day = 24 * 60 * 60_000;
/** How long it is remembered after the removal, so that no process whose clock is behind tells of it again. */
const afterlifeMs = day;
/** Days before the removal. */
export const removalSteps = [1, 7, 30, 90] as const;

/** When accounts are told of it for the first time. */
export const firstStepAt = ({ removedAt }: EndingOperation): Date =>
  new Date(removedAt.getTime() - Math.max(...removalSteps) * day);

/** The step that has begun: from 30 days before the removal it is 30, until 7 days before. @returns undefined before the first and after the removal */
export const removalStep = ({ removedAt }: EndingOperation, now: Date): number | undefined => {
  const left = removedAt.getTime() - now.getTime();
  return left <= 0 ? undefined : removalSteps.find((days) => left <= days * day);
};

/** Tells each step once. An account that begins to call the operation between two steps is told then. */
export const warnOfRemoval = (account: Account, ending: EndingOperation, now: Date): Warned => {
  const { operation, removedAt } = ending;
  const step = removalStep(ending, now);
  const { removals } = account.warnings;
  const told = removals.find((one) => one.operation === operation);
  if (step === undefined || (told && told.step <= step)) return { state: account, events: [] };
  const others = removals.filter(
    (one) => one !== told && one.removedAt.getTime() + afterlifeMs > now.getTime(),
  );
  const days = Math.ceil((removedAt.getTime() - now.getTime()) / day);
  const event = { accountId: account.id, occurredAt: now, operation, days };
  return {
    state: {
      ...account,
      warnings: { ...account.warnings, removals: [...others, { operation, removedAt, step }] },
    },
    events: [{ type: 'operation_removal', ...event, removedAt: removedAt.toISOString() }],
  };
};
