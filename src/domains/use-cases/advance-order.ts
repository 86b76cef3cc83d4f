import { orderExempted, orderNotMade } from '../domain/certificates/ca-ledger.ts';
import type { OrderEnd, OrderState } from '../domain/certificates/order.ts';
import type { Pause } from '../ports.ts';
import type { CertificateAuthority, CertificateOrders, PlacedOrder } from '../certificate-ports.ts';

export interface OrderPorts {
  readonly authority: CertificateAuthority;
  readonly orders: CertificateOrders;
  readonly pause: Pause;
}

/** What an order is for. Every worker continues the same order for the same subject. */
export interface OrderSubject {
  readonly subject: string;
  readonly host: string;
  /** Its key in the ledger, entered before the authority is asked. */
  readonly orderKey: string;
  /** Chain of the certificate that it renews. */
  readonly replaces: string | undefined;
  /** Called once the order is stored, because giving it up later deletes the stored order. */
  readonly isWanted: () => Promise<boolean>;
}

export type OrderOutcome =
  | OrderEnd
  | Extract<OrderState, { kind: 'processing' }>
  /** Another worker gave it up; nothing is kept. */
  | { readonly kind: 'unwanted' };

/** Slower orders are left to the schedule. */
const mostLooks = 20;
const longestPauseMs = 3000;

/**
 * Advances an order as far as possible now. Each one-time request is stored before it is sent, so that after a crash
 * the next worker continues with the same order, key and challenge (RFC 8555, 7.4). The caller stores the outcome and
 * then forgets the order.
 * @throws Unavailable
 * @throws Error when another worker forgot the order meanwhile
 */
export const advanceOrder =
  (ports: OrderPorts) =>
  async (wanted: OrderSubject): Promise<OrderOutcome> => {
    const { authority, orders } = ports;
    const placed = await place(authority, orders, wanted);
    if (placed.kind !== 'placed') return placed;
    const { order } = placed;
    let state = await authority.look(order);
    for (let looks = 1; looks <= 2 * mostLooks; looks++) {
      if (isLeft(state, looks)) return state;
      state = await takeStep(ports, order, state);
    }
    return { kind: 'processing', askAgainAfterMs: longestPauseMs };
  };

/** It has ended, or takes so long that the schedule must continue it. */
const isLeft = (
  state: OrderState,
  looks: number,
): state is Extract<OrderState, { kind: 'issued' | 'failed' | 'processing' }> =>
  state.kind === 'issued' ||
  state.kind === 'failed' ||
  (state.kind === 'processing' && (looks >= mostLooks || state.askAgainAfterMs > longestPauseMs));

const takeStep = async (
  { authority, orders, pause }: OrderPorts,
  order: PlacedOrder,
  state: OrderState,
): Promise<OrderState> => {
  switch (state.kind) {
    case 'challenge': {
      const { token, keyAuthorization, challengeUrl } = state;
      await orders.publish(order.subject, { token, keyAuthorization });
      return authority.prove(order, challengeUrl);
    }
    case 'ready':
      return authority.finalize(order);
    case 'processing':
      await pause(state.askAgainAfterMs);
      return authority.look(order);
    case 'failed':
    case 'issued':
      return state;
  }
};

type Placing =
  | { readonly kind: 'placed'; readonly order: PlacedOrder }
  | Extract<OrderOutcome, { kind: 'not_placed' | 'unwanted' }>;

const place = async (
  authority: CertificateAuthority,
  orders: CertificateOrders,
  { subject, host, orderKey, replaces, isWanted }: OrderSubject,
): Promise<Placing> => {
  const kept =
    (await orders.find(subject)) ??
    (await orders.begin({ subject, host, privateKey: await authority.newPrivateKey() }));
  const isPlaced = kept?.url !== undefined;
  if (!kept || !(await isWanted())) {
    await orders.forget(subject, isPlaced ? {} : orderNotMade(orderKey));
    return { kind: 'unwanted' };
  }
  if (kept.url !== undefined) return { kind: 'placed', order: { ...kept, url: kept.url } };
  const answer = await authority.order(host, replaces);
  if (answer.kind === 'failed') return { ...answer, kind: 'not_placed' };
  const ledger = answer.isExempt ? orderExempted(orderKey) : {};
  return { kind: 'placed', order: await orders.placed(subject, answer.url, ledger) };
};
