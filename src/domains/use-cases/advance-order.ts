import type {
  CertificateAuthority,
  CertificateOrders,
  DnsChallenges,
  KeptOrder,
  OrderAnswer,
  PlacedOrder,
} from '../certificate-ports.ts';
import { chooseAuthority } from '../domain/certificates/authorities.ts';
import { type Hold, orderExempted, orderNotMade } from '../domain/certificates/ca-budget.ts';
import type { AuthorityFailure, OrderState } from '../domain/certificates/certificate-status.ts';
import { type CertificateWork, choiceOf } from '../domain/certificates/certificate-work.ts';
import type { OrderResult } from '../domain/certificates/settle-order.ts';
import type { ValidationMethod } from '../domain/dns/validation.ts';
import type { DomainPorts, Pause } from '../ports.ts';
import type { Clock } from '../../kernel/ports.ts';

export type AuthorityPorts = Pick<DomainPorts, 'authority' | 'secondAuthority'>;

/** The preferred one first. */
export const authoritiesOf = ({
  authority,
  secondAuthority,
}: AuthorityPorts): readonly CertificateAuthority[] =>
  secondAuthority ? [authority, secondAuthority] : [authority];

export const authorityNamed = (
  ports: AuthorityPorts,
  name: string,
): CertificateAuthority | undefined => authoritiesOf(ports).find((one) => one.name === name);

export const authorityFor = (
  ports: AuthorityPorts,
  work: CertificateWork | undefined,
  now: Date,
): CertificateAuthority => {
  const name = work && chooseAuthority(choiceOf(work), now);
  return (name === undefined ? undefined : authorityNamed(ports, name)) ?? ports.authority;
};

export interface OrderPorts extends AuthorityPorts {
  readonly orders: CertificateOrders;
  readonly dnsChallenges: DnsChallenges;
  readonly clock: Clock;
  readonly pause: Pause;
}

interface Proof {
  readonly method: ValidationMethod;
  readonly label: string;
}

export interface OrderSubject {
  readonly authority: string;
  readonly subject: string;
  readonly host: string;
  readonly also?: readonly string[] | undefined;
  readonly replaces: string | undefined;
  readonly proof: Proof;
  /** Counts the order again, because the authority does not exempt it. @returns the budget that it must wait for */
  readonly countAgain: () => Promise<Hold | undefined>;
  readonly isWanted: () => Promise<boolean>;
}

export type OrderOutcome = OrderResult | { readonly kind: 'unwanted' };

const mostLooks = 20;
const longestPauseMs = 3000;

/**
 * Advances an order as far as possible now. Each request is stored before it is sent, so that after a crash the
 * next worker continues with the same order, key and challenge (RFC 8555, section 7.4). The caller stores the
 * outcome and deletes the order.
 * @throws Unavailable; Error if another worker deleted the order
 */
export const advanceOrder =
  (ports: OrderPorts) =>
  async (wanted: OrderSubject): Promise<OrderOutcome> => {
    const placed = await place(ports, wanted);
    if (placed.kind !== 'placed') return placed;
    const { authority } = placed;
    const order = { ...placed.order, ...wanted.proof, also: wanted.also };
    let state = await authority.look(order);
    for (let looks = 1; looks <= 2 * mostLooks; looks++) {
      if (isLeft(state, looks)) return state;
      state = await takeStep({ ...ports, authority }, order, state);
    }
    return { kind: 'processing', askAgainAfterMs: longestPauseMs };
  };

const isLeft = (
  state: OrderState,
  looks: number,
): state is Extract<OrderState, { kind: 'issued' | 'failed' | 'processing' }> =>
  state.kind === 'issued' ||
  state.kind === 'failed' ||
  (state.kind === 'processing' && (looks >= mostLooks || state.askAgainAfterMs > longestPauseMs));

type ProvedOrder = PlacedOrder & Proof & Pick<OrderSubject, 'also'>;

const takeStep = async (
  ports: OrderPorts,
  order: ProvedOrder,
  state: OrderState,
): Promise<OrderState> => {
  const { authority, pause } = ports;
  switch (state.kind) {
    case 'challenge':
      await publications[order.method](ports, order, state.answers);
      return authority.prove(order, state.challengeUrl);
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

type Publish = (
  ports: OrderPorts,
  order: ProvedOrder,
  answers: Extract<OrderState, { readonly kind: 'challenge' }>['answers'],
) => Promise<void>;

const publishOverHttp: Publish = ({ orders }, { subject }, [answer]) =>
  orders.publish(subject, answer);

const valueMs = 7 * 24 * 60 * 60 * 1000;

const publishByDns: Publish = async ({ dnsChallenges, clock }, order, answers) => {
  const [{ label }, now] = [order, clock.now()];
  const expiresAt = new Date(now.getTime() + valueMs);
  const values = answers.map(({ textValue }) => textValue);
  for (const value of values)
    await dnsChallenges.publish(order.subject, { label, value, expiresAt });
  // Reads it like our name servers do.
  const found = (await dnsChallenges.valuesFor([label], now)).get(label) ?? [];
  if (!values.every((value) => found.includes(value)))
    throw new Error(`the challenge of ${order.host} was not stored`);
};

const publications: Readonly<Record<ValidationMethod, Publish>> = {
  'dns-01': publishByDns,
  'http-01': publishOverHttp,
};

type Placing =
  | {
      readonly kind: 'placed';
      readonly order: PlacedOrder;
      readonly authority: CertificateAuthority;
    }
  | Extract<OrderOutcome, { kind: 'failed' | 'not_placed' | 'held_up' | 'unwanted' }>;

const place = async (ports: OrderPorts, wanted: OrderSubject): Promise<Placing> => {
  const { orders } = ports;
  const { subject, isWanted } = wanted;
  const kept = (await orders.find(subject)) ?? (await begin(ports, wanted));
  const isPlaced = kept?.url !== undefined;
  if (!kept || !(await isWanted())) {
    await orders.forget(subject, isPlaced ? {} : orderNotMade(subject));
    return { kind: 'unwanted' };
  }
  const authority = authorityNamed(ports, kept.authority);
  if (!authority) return { kind: 'failed', failure: unknownAuthority(kept.authority) };
  if (kept.url !== undefined)
    return { kind: 'placed', order: { ...kept, url: kept.url }, authority };
  const answer = await ask(authority, wanted);
  if (answer.kind === 'held_up') return answer;
  if (answer.kind === 'failed') return { ...answer, kind: 'not_placed' };
  const ledger = answer.isExempt ? orderExempted(subject) : {};
  return { kind: 'placed', order: await orders.placed(subject, answer.url, ledger), authority };
};

type Asked = Exclude<OrderAnswer, { kind: 'not_exempt' }> | Extract<Placing, { kind: 'held_up' }>;

const ask = async (
  authority: CertificateAuthority,
  { host, also, replaces, countAgain }: OrderSubject,
): Promise<Asked> => {
  const first = await authority.order(host, replaces, also);
  if (first.kind !== 'not_exempt') return first;
  const hold = await countAgain();
  if (hold) return { kind: 'held_up', hold };
  const second = await authority.order(host, undefined, also);
  if (second.kind === 'not_exempt') throw new Error(`${authority.name} was not asked to exempt it`);
  return second;
};

const begin = async (
  ports: OrderPorts,
  { subject, host, authority }: OrderSubject,
): Promise<KeptOrder | undefined> => {
  const privateKey = await ports.authority.newPrivateKey();
  return ports.orders.begin({ authority, subject, host, privateKey });
};

const unknownAuthority = (name: string): AuthorityFailure => ({
  reason: 'order_gone',
  detail: `The order is at ${name}, which is no longer in the settings.`,
  retryAt: undefined,
});
