import { orderExempted, orderNotMade } from '../domain/ca-ledger.ts';
import type { OrderEnd, OrderState } from '../domain/certificate-order.ts';
import type { CertificateOrders, KeptOrder, Pause } from '../domain-ports.ts';
import type { CertificateAuthority } from '../ports.ts';

export interface OrderPorts {
  readonly authority: CertificateAuthority;
  readonly orders: CertificateOrders;
  readonly pause: Pause;
}

/** What an order is for. Every worker continues the same order for the same subject. */
export interface OrderSubject {
  readonly subject: string;
  readonly host: string;
  /** Under which it is in the ledger, before the authority is asked for it. */
  readonly orderKey: string;
  /** Chain of the certificate that is renewed. */
  readonly replaces: string | undefined;
  /** Asked once the order is stored: giving it up later deletes the stored order. */
  readonly isWanted: () => Promise<boolean>;
}

export type OrderOutcome =
  | OrderEnd
  | Extract<OrderState, { kind: 'processing' }>
  /** Given up by somebody else; nothing of it is kept. */
  | { readonly kind: 'unwanted' };

/** The schedule checks an order again that takes longer. */
const mostLooks = 20;
const longestPauseMs = 3000;

/**
 * Takes an order as far as it goes now. Each thing that the authority has to be asked once is stored before it is
 * asked: whoever dies in between, the next one goes on with the same order, key and challenge (RFC 8555, 7.4).
 * Whoever has noted down what came of it forgets the order.
 * @throws Unavailable
 * @throws Error when the order is forgotten meanwhile
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

/** It is over, or takes so long that the schedule looks at it again. */
const isLeft = (
  state: OrderState,
  looks: number,
): state is Extract<OrderState, { kind: 'issued' | 'failed' | 'processing' }> =>
  state.kind === 'issued' ||
  state.kind === 'failed' ||
  (state.kind === 'processing' && (looks >= mostLooks || state.askAgainAfterMs > longestPauseMs));

const takeStep = async (
  { authority, orders, pause }: OrderPorts,
  order: KeptOrder & { readonly url: string },
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
  | { readonly kind: 'placed'; readonly order: KeptOrder & { readonly url: string } }
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
