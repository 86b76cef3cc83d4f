import { subscriptions, type AnyEvent } from '../../src/app/subscriptions.ts';
import { byHand, code, list, type Printed, table } from './markdown.ts';

export const eventTables = (): Readonly<Record<string, Printed>> => {
  const types = Object.keys(subscriptions) as AnyEvent['type'][];
  const subscribers = types.flatMap((type) => subscriptions[type].subscribers);
  return {
    events: table(
      ['Event', 'When', 'In the audit log', 'Subscribers'],
      types.map((type) => {
        const { isShown, subscribers: own } = subscriptions[type];
        return [code(type), byHand, isShown ? 'yes' : 'no', list(own)];
      }),
    ),
    subscribers: table(
      ['Subscriber', 'What it does'],
      [...new Set(subscribers)].toSorted().map((name) => [code(name), byHand]),
    ),
  };
};
