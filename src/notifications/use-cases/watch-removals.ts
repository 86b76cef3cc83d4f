import { earliest } from '../../kernel/earliest.ts';
import {
  firstStepAt,
  lookAtRemoval,
  removalStep,
  type EndingOperation,
} from '../domain/removal-watch.ts';
import type { NotificationsPorts } from '../ports.ts';
import { memoryOf, watching } from './watching.ts';

type Ports = Pick<NotificationsPorts, 'watches' | 'callers' | 'endings' | 'clock'>;

/** When there may be something to tell: in the past while an operation ends soon. */
export const removalsDueAt =
  ({ endings, clock }: Pick<Ports, 'endings' | 'clock'>) =>
  (): Promise<Date | undefined> => {
    const coming = endings.filter(({ removedAt }) => removedAt > clock.now());
    return Promise.resolve(earliest(coming.map(firstStepAt)));
  };

/** Tells accounts of operations that they still call and that will be removed soon. */
export const watchRemovals =
  (ports: Ports) =>
  async (isStopping: () => boolean): Promise<void> => {
    const near = ports.endings.filter((one) => removalStep(one, ports.clock.now()) !== undefined);
    if (near.length === 0) return;
    for (const accountId of await ports.callers.accounts()) {
      for (const ending of near) {
        if (isStopping()) return;
        await watchCaller(ports, accountId, ending);
      }
    }
  };

/** Asks for calls only where something would be told. */
const watchCaller = async (ports: Ports, accountId: string, ending: EndingOperation) => {
  const { callers, clock } = ports;
  await watching(ports)(`removal:${accountId}:${ending.operation}`, async (kept) => {
    const memory = memoryOf(kept, 'removal');
    const look = lookAtRemoval(memory, { ...ending, accountId }, clock.now());
    if (!look) return undefined;
    return (await callers.stillCalls(accountId, ending.operation)) ? look : undefined;
  });
};
