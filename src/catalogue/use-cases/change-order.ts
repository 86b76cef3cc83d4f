import { approveOrder, deliverOrder, type Order, type OrderId } from '../domain/order.ts';
import type { CataloguePorts } from '../ports.ts';

const steps = { approve: approveOrder, deliver: deliverOrder } as const;

/** Approve or deliver an order. @throws DomainError `order_not_found`, `order_wrong_status` */
export const changeOrder =
  ({ orders, clock }: Pick<CataloguePorts, 'orders' | 'clock'>) =>
  (accountId: string, id: OrderId, step: keyof typeof steps): Promise<Order> =>
    orders.change(accountId, id, (order) => steps[step](accountId, order, clock.now()));
