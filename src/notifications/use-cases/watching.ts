import type { Look } from '../domain/look.ts';
import type { Memory } from '../domain/memory.ts';
import type { KeptWatch, NotificationsPorts } from '../ports.ts';

const mostTries = 20;

/**
 * Looks at a thing and stores what the look decided. The memory is read before the facts, and the look is repeated if
 * another one was stored meanwhile: so none decides on facts that are older than those of the one before it.
 * @param decide reads the facts; undefined: there is nothing to store
 */
export const watching =
  ({ watches }: Pick<NotificationsPorts, 'watches'>) =>
  async (
    subject: string,
    decide: (kept: KeptWatch | undefined) => Promise<Look<Memory> | undefined>,
  ): Promise<void> => {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const kept = await watches.get(subject);
      const look = await decide(kept);
      if (!look || (await watches.save(subject, kept?.version, look))) return;
    }
    throw new Error(`others look at ${subject} all the time`);
  };

/** The memory of a kind. */
export const memoryOf = <Kind extends Memory['kind']>(
  kept: KeptWatch | undefined,
  kind: Kind,
): Extract<Memory, { kind: Kind }> | undefined => {
  const isOfKind = (memory: Memory): memory is Extract<Memory, { kind: Kind }> =>
    memory.kind === kind;
  return kept && isOfKind(kept.memory) ? kept.memory : undefined;
};
