import type { Look } from './look.ts';

/** An operation of the API that will be removed. */
export interface EndingOperation {
  readonly operation: string;
  readonly removedAt: Date;
}

export interface RemovalMemory {
  readonly kind: 'removal';
  /** Of `removalSteps`, the last one told. */
  readonly step: number;
}

const day = 24 * 60 * 60_000;
/** How long the memory is kept after the removal, so that no process whose clock is behind tells of it again. */
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

/** An account that begins to call the operation between two steps is told then. @returns undefined if there is nothing to tell */
export const lookAtRemoval = (
  memory: RemovalMemory | undefined,
  ending: EndingOperation & { readonly accountId: string },
  now: Date,
): Look<RemovalMemory> | undefined => {
  const step = removalStep(ending, now);
  if (step === undefined || (memory && memory.step <= step)) return undefined;
  const { accountId, operation, removedAt } = ending;
  const days = Math.ceil((removedAt.getTime() - now.getTime()) / day);
  const event = { operation, removedAt: removedAt.toISOString(), days };
  return {
    memory: { kind: 'removal', step },
    events: [{ type: 'operation_removal_neared', accountId, occurredAt: now, ...event }],
    lookAt: new Date(removedAt.getTime() + afterlifeMs),
  };
};
