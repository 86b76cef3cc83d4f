import type { StoredEvent } from '../../kernel/domain-event.ts';
import type { Beginning, Tracer } from '../../kernel/tracer.ts';
import type { Subscriber } from './event-bus.ts';

/** The same subscribers; each delivery begins a trace, linked to what stored its event where that is known. */
export const tracedSubscribers = (
  tracer: Tracer,
  subscribers: Readonly<Record<string, Subscriber>>,
): Readonly<Record<string, Subscriber>> =>
  Object.fromEntries(
    Object.entries(subscribers).map(([name, handle]): [string, Subscriber] => [
      name,
      (stored) => tracer.begin(deliveryOf(stored, name), () => handle(stored)),
    ]),
  );

const deliveryOf = ({ id, event }: StoredEvent, subscriber: string): Beginning => ({
  name: `process ${event.type}`,
  kind: 'consumer',
  facts: {
    'messaging.system': 'animal_store',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': event.type,
    'messaging.destination.subscription.name': subscriber,
    'messaging.message.id': id,
    'animal_store.account.id': event.accountId,
  },
  causedBy: id,
});
