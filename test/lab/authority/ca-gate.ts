import { once } from 'node:events';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { GatedAuthority, type CannedWindow, readSigned } from './gate-authority.ts';
import { CaaGuard, type CaFault, caPlaces, CaFaults } from './gate-caa.ts';
import type { Pebble } from './pebble.ts';

/** A request refused only because of its nonce is repeated at once. */
const counted = (gate: CaGate, place: RegExp): readonly CaRequest[] =>
  gate.asked(place).filter(({ status }) => status !== 400);

/**
 * Requests for the certificate of a host. The signed request contains the host name in clear text (RFC
 * 2986).
 */
const finalizesOf = (gate: CaGate, host: string): readonly CaRequest[] =>
  counted(gate, caPlaces.finalize).filter(({ payload }) => {
    const { csr } = payload as { csr: string };
    return Buffer.from(csr, 'base64url').includes(host);
  });

/** The number of certificates issued for a host. On a busy machine, an order may fail and be repeated. */
export const issuedFor = (gate: CaGate, host: string): number =>
  new Set(
    finalizesOf(gate, host)
      .filter(({ status }) => status === 200)
      .map(({ line }) => line),
  ).size;

interface CaRequest {
  /** In the form `METHOD /path`. */
  readonly line: string;
  /** The signed content; undefined if there was none, and for POST-as-GET. */
  readonly payload: unknown;
  readonly userAgent: string | undefined;
  /** 0 while there is no answer, and if it was lost. */
  status: number;
}

export interface CaGate {
  readonly directoryUrl: string;
  /** In order. The reader empties the list. */
  readonly log: CaRequest[];
  /** The requests of the log at this place. */
  asked(place: RegExp): readonly CaRequest[];
  setFaults(...faults: readonly CaFault[]): void;
  /** Sets the renewal window that the directory offers; undefined: none, as at the start. */
  setRenewalInfo(window: CannedWindow | undefined): void;
  /** Sets the profiles that the directory offers; by default it offers none. */
  setProfiles(...names: readonly string[]): void;
  close(): void;
}

interface GateOptions {
  readonly pebble: Pebble;
  /** The authority's name in CAA records. */
  readonly issuer: string;
  /** Resolver for CAA, as `ip:port`. */
  readonly dns: string;
}

/**
 * An HTTPS proxy in front of Pebble that adds CAA checks (RFC 8659, RFC 8657), renewal windows and faults.
 * It passes the Host header, so that Pebble builds its URLs on this address and signed URLs stay valid.
 */
export const startCaGate = async ({ pebble, issuer, dns }: GateOptions): Promise<CaGate> => {
  const log: CaRequest[] = [];
  const faults = new CaFaults();
  const authority = new GatedAuthority(pebble, new CaaGuard(issuer, dns));

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const signed = readSigned(await buffer(request));
    const line = `${request.method ?? ''} ${request.url ?? ''}`;
    const userAgent = request.headers['user-agent'];
    const entry: CaRequest = { line, payload: signed.payload, userAgent, status: 0 };
    log.push(entry);
    const fault = faults.take(line, authority.hosts.of(request.url ?? '', signed.payload));
    const isReplaced = (fault?.status ?? fault?.problem ?? fault?.body) !== undefined;
    if (fault?.after) await authority.answerTo(request, signed);
    if (fault?.delayMs !== undefined) await delay(fault.delayMs, undefined, { ref: false });
    await fault?.held;
    if (fault?.hang) return;
    if (fault?.reset) return void request.socket.destroy();
    const answer = await (fault && isReplaced
      ? authority.replaced(fault)
      : authority.answerTo(request, signed));
    entry.status = answer.status;
    response.writeHead(answer.status, answer.headers).end(answer.body);
  };

  const server = createServer(pebble.tls, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    directoryUrl: `https://127.0.0.1:${port}/dir`,
    log,
    asked: (place) => log.filter(({ line }) => place.test(line)),
    setFaults: (...all) => faults.set(all),
    setRenewalInfo: (window) => void (authority.window = window),
    setProfiles: (...names) => void (authority.profiles = names.length > 0 ? names : undefined),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
