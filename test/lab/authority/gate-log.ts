import { caPlaces } from './gate-faults.ts';
import type { CaGate, CaRequest } from './ca-gate.ts';

/** One that was refused for its nonce only is asked again at once. */
const counted = (gate: CaGate, place: RegExp): readonly CaRequest[] =>
  gate.asked(place).filter(({ status }) => status !== 400);

/** Requests for an order for a host. */
export const ordersOf = (gate: CaGate, host: string): readonly CaRequest[] =>
  counted(gate, caPlaces.newOrder).filter(({ payload }) => {
    const { identifiers } = payload as { identifiers: readonly { value: string }[] };
    return identifiers.some(({ value }) => value === host);
  });

/** Requests for the certificate of a host; its name is in the clear in what is signed (RFC 2986). */
export const finalizesOf = (gate: CaGate, host: string): readonly CaRequest[] =>
  counted(gate, caPlaces.finalize).filter(({ payload }) => {
    const { csr } = payload as { csr: string };
    return Buffer.from(csr, 'base64url').includes(host);
  });

/** How many certificates of a host were issued: an order that comes to nothing on a busy machine is followed by another. */
export const issuedFor = (gate: CaGate, host: string): number =>
  new Set(
    finalizesOf(gate, host)
      .filter(({ status }) => status === 200)
      .map(({ line }) => line),
  ).size;

/** Requests at such a place that have no answer. */
export const unanswered = (gate: CaGate, place: RegExp): readonly CaRequest[] =>
  gate.asked(place).filter(({ status }) => status === 0);
