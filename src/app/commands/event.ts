import { Argument, InvalidArgumentError } from 'commander';
import type { Container } from 'inversify';
import { readId } from '../../catalogue/domain/pet.ts';
import { Clock } from '../../kernel/ports.ts';
import type { EveryField } from '../../kernel/decision.ts';
import { inWords } from '../../kernel/text.ts';
import { ParkedDeliveries, type ParkedDelivery } from '../../kernel/queue.ts';
import { redaction } from '../settings/redaction.ts';
import { group, command, option, table, type Answer, type Define } from './run-command.ts';

const page = 1000;
const longestProblem = 100;

const deliveryId = (text: string): string => {
  const id = readId(text);
  if (id === undefined) throw new InvalidArgumentError('Use an id that "event list" shows.');
  return String(id);
};

const list = command(
  `list parked deliveries, whose subscriber failed too often, oldest first, at most ${String(page)} at once`,
  [
    option('--parked', 'parked deliveries: the default'),
    option('--after <id>', 'continue after this id, the last of the previous list').argParser(
      deliveryId,
    ),
  ],
  async (container, { after }: { after?: string }) => {
    const found = await container.get(ParkedDeliveries).list(page, after);
    const redact = redaction(process.env);
    const shown = found.map((one) => ({ ...one, problem: redact(one.problem) }));
    const now = container.get(Clock).now();
    const rows = shown.map((one) => columnsOf(one, now));
    const heading = ['ID', 'SUBSCRIBER', 'ATTEMPTS', 'LAST ERROR', 'ACCOUNT', 'EVENT', 'AGE'];
    return [shown.map(present), table(heading, rows, 'Nothing is parked.') + whatFollows(shown)];
  },
);

interface RetryGiven {
  readonly id?: string;
  readonly all?: true;
}

const retryOf = command(
  'retry one parked delivery, or all; a worker delivers them within a second',
  [
    new Argument('[id]', 'id of the delivery').argParser(deliveryId),
    option('--all', 'all parked deliveries'),
  ],
  (container, { id }: RetryGiven) =>
    id === undefined ? releaseAll(container) : releaseOne(container, id),
);

const retry: Define = (defined) => {
  retryOf(defined);
  defined.hook('preAction', () => {
    const isOne = defined.processedArgs[0] !== undefined;
    if (isOne === (defined.opts<RetryGiven>().all === true)) {
      defined.error('error: give the id of a delivery or --all');
    }
  });
};

export const eventCommands = group('event', 'list and retry parked deliveries', {
  list,
  retry,
});

const releaseAll = async (container: Container): Promise<Answer> => {
  const released = await container.get(ParkedDeliveries).releaseAll();
  const text =
    released === 0 ? 'Nothing is parked.' : `${String(released)} will be delivered again.`;
  return [{ released }, text];
};

const releaseOne = async (container: Container, id: string): Promise<Answer> => {
  const outcome = await container.get(ParkedDeliveries).release(id);
  switch (outcome) {
    case 'released':
      return [{ released: 1 }, `Delivery ${id} will be delivered again.`];
    case 'not_parked':
      throw new Error(`Delivery ${id} is not parked: workers retry it automatically.`);
    case 'unknown':
      throw new Error(
        `There is no parked delivery ${id}. "event list" shows them; those that succeeded are not kept.`,
      );
  }
};

const present = (one: ParkedDelivery) =>
  ({
    id: one.id,
    subscriber: one.subscriber,
    attempts: one.attempts,
    problem: one.problem,
    eventId: one.eventId,
    type: one.type,
    accountId: one.accountId,
    occurredAt: one.occurredAt,
  }) satisfies EveryField<ParkedDelivery>;

const columnsOf = (one: ParkedDelivery, now: Date) =>
  Object.values({
    id: one.id,
    subscriber: one.subscriber,
    attempts: String(one.attempts),
    problem: inALine(one.problem),
    accountId: one.accountId,
    type: one.type,
    occurredAt: inWords(now.getTime() - one.occurredAt.getTime()),
  } satisfies Omit<EveryField<ParkedDelivery>, 'eventId'>);

/** Removes line breaks and characters that control a terminal. */
const inALine = (problem: string): string => {
  const line = problem.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > longestProblem ? `${line.slice(0, longestProblem).toWellFormed()}…` : line;
};

const whatFollows = (shown: readonly ParkedDelivery[]): string => {
  const last = shown.at(-1);
  return last && shown.length === page ? `\nThere may be more: add --after ${last.id}` : '';
};
