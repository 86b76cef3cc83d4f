import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type {
  CertificateOrder,
  OrderState,
} from '../../../src/domains/domain/certificates/certificate-status.ts';
import type { Certificate } from '../../../src/domains/domain/certificates/renewal.ts';
import type { CertificateAuthority } from '../../../src/domains/certificate-ports.ts';
import {
  startPebbleLab,
  type PebbleLab,
  type PebbleServers,
} from '../../lab/authority/pebble-lab.ts';
import { until } from '../../support/until.ts';

export interface AnsweredAuthority {
  readonly authority: CertificateAuthority;
  /** Publishes the answer to a challenge; undefined for an authority without challenges. */
  readonly publish?: (token: string, keyAuthorization: string) => void;
  /** Publishes the values of a DNS challenge. */
  readonly publishText?: ((host: string, values: readonly string[]) => void) | undefined;
}

type ChallengeState = Extract<OrderState, { readonly kind: 'challenge' }>;

const publishAnswer = (
  { publish, publishText }: Pick<AnsweredAuthority, 'publish' | 'publishText'>,
  { host, method }: CertificateOrder,
  { answers }: ChallengeState,
): void => {
  const [{ token, keyAuthorization }] = answers;
  if (method === 'http-01') publish?.(token, keyAuthorization);
  else
    publishText?.(
      host,
      answers.map(({ textValue }) => textValue),
    );
};

/**
 * One authority for all tests of a file. Each test begins with an empty log and without the faults and settings of
 * another test.
 */
export const openPebbleLab = (options?: Parameters<typeof startPebbleLab>[0]): PebbleServers => {
  let lab: PebbleLab;
  beforeAll(async () => {
    lab = await startPebbleLab(options);
  });
  afterAll(() => lab.close());
  beforeEach(() => {
    lab.gate.log.length = 0;
  });
  afterEach(() => {
    lab.gate.setFaults();
    lab.gate.setProfiles();
    lab.gate.setRenewalInfo(undefined);
  });
  return {
    get pebble() {
      return lab.pebble;
    },
    get gate() {
      return lab.gate;
    },
    get dns() {
      return lab.dns;
    },
    get challenges() {
      return lab.challenges;
    },
  };
};

let hosts = 0;

/** A new host. */
export const newHost = (): string => `shop-${++hosts}.customer.test`;

/** @throws Error with the authority's refusal */
export const placed = async (
  authority: CertificateAuthority,
  host = newHost(),
  { method = 'http-01', also }: Partial<Pick<CertificateOrder, 'method' | 'also'>> = {},
): Promise<CertificateOrder> => {
  const privateKey = await authority.newPrivateKey();
  const answer = await authority.order(host, undefined, also);
  if (answer.kind !== 'ordered') throw new Error(JSON.stringify(answer));
  return { host, url: answer.url, privateKey, method, also };
};

/** @returns the URL of the challenge that the order waits for; publishes its answer if possible @throws Error without one */
export const challengeUrlOf = async (
  { authority, publish }: AnsweredAuthority,
  order: CertificateOrder,
): Promise<string> => {
  const state = await authority.look(order);
  if (state.kind !== 'challenge') throw new Error(`the order is ${state.kind}`);
  if (publish) publishAnswer({ publish }, order, state);
  return state.challengeUrl;
};

/** Takes the next step of the order, as the product does. */
export const advance = async (
  { authority, publish, publishText }: AnsweredAuthority,
  order: CertificateOrder,
  state: OrderState,
): Promise<OrderState> => {
  switch (state.kind) {
    case 'challenge':
      if (!publish) throw new Error('it asks for a challenge');
      publishAnswer({ publish, publishText }, order, state);
      return authority.prove(order, state.challengeUrl);
    case 'ready':
      return authority.finalize(order);
    case 'processing':
      return authority.look(order);
    case 'issued':
    case 'failed':
      return state;
  }
};

/** Continues an order until it is in this state or has ended. */
export const takeTo = async (
  opened: AnsweredAuthority,
  order: CertificateOrder,
  wanted: OrderState['kind'],
): Promise<OrderState> => {
  let state = await opened.authority.look(order);
  return until(`the order is ${wanted}`, async () => {
    if ([wanted, 'issued', 'failed'].includes(state.kind)) return state;
    state = await advance(opened, order, state);
    return [wanted, 'issued', 'failed'].includes(state.kind) && state;
  });
};

/** @throws Error with the state in which it ended instead */
export const takeToCertificate = async (
  opened: AnsweredAuthority,
  order: CertificateOrder,
): Promise<Certificate> => {
  const state = await takeTo(opened, order, 'issued');
  if (state.kind !== 'issued') throw new Error(JSON.stringify(state));
  return state.certificate;
};

/** Places an order and continues it to its certificate. */
export const obtain = async (opened: AnsweredAuthority, host = newHost()): Promise<Certificate> =>
  takeToCertificate(opened, await placed(opened.authority, host));
