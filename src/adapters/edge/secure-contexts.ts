import { constants } from 'node:crypto';
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { LoadedCertificate } from '../../domains/ports.ts';
import type { EdgeConnections } from './edge-connections.ts';
import type { RouteTable } from './route-table.ts';

/** A context takes some 34 kB; making one takes less time than the handshake that needs it. */
const mostContexts = 500;

/**
 * What TLS needs for a name by which hosts are served, made when a visitor first comes. Private keys of names without
 * visitors stay sealed.
 */
export class SecureContexts {
  readonly #routes: RouteTable;
  readonly #log: Logger;
  readonly #contexts = new LRUCache<string, SecureContext>({
    max: mostContexts,
    dispose: (context) => {
      release(context);
    },
  });
  readonly #unusable = new Set<string>();

  constructor(routes: RouteTable, log: Logger) {
    this.#routes = routes;
    this.#log = log;
    const forget = (name: string) => {
      this.#contexts.delete(name);
      this.#unusable.delete(name);
    };
    routes.on('removed', forget);
    routes.on('certificate', forget);
  }

  /** @returns undefined when nothing is served by that name, or it has no certificate that can be used */
  find(name: string): SecureContext | undefined {
    const certificate = this.#routes.certificate(name);
    if (!certificate) return undefined;
    const { host: shared } = certificate;
    const known = this.#contexts.get(shared);
    if (known) return known;
    if (this.#unusable.has(shared)) return undefined;
    try {
      const context = contextFrom(certificate);
      this.#contexts.set(shared, context);
      return context;
    } catch (error) {
      this.#log.error({ err: error, host: name }, 'certificate cannot be used, host refused');
      this.#unusable.add(shared);
      return undefined;
    }
  }
}

/**
 * Frees native memory whose size the garbage collector does not know. Open connections keep their own reference. Uses
 * an undocumented method; without it, the garbage collector frees the memory later.
 */
const release = (context: SecureContext): void => {
  (context.context as { close?: () => void }).close?.();
};

const contextFrom = ({ chain, privateKey }: LoadedCertificate): SecureContext =>
  createSecureContext({ cert: chain, key: privateKey(), ...tlsOptions });

type Callback = (error: Error | null, context?: SecureContext) => void;

/** A fatal alert `unrecognized_name` in the clear, as before any handshake (RFC 8446, section 6; RFC 6066, section 3). */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

interface ServerNamePorts {
  readonly routes: Pick<RouteTable, 'nameFor'>;
  readonly certificates: SecureContexts;
  readonly connections: Pick<EdgeConnections, 'below'>;
}

/**
 * Chooses the certificate of a new connection. There is no default one: a name that is not served is refused with
 * its own alert. Node can only drop the connection there, so the alert is written on the connection below.
 */
export const serverNames = ({ routes, certificates, connections }: ServerNamePorts) =>
  // TLS calls it as a method of the socket.
  function (this: unknown, host: string, done: Callback): void {
    const name = routes.nameFor(host.toLowerCase());
    const context = name === undefined ? undefined : certificates.find(name);
    const connection = connections.below(this as TLSSocket);
    if (!connection) {
      done(new Error('the connection ended'));
      return;
    }
    if (context) {
      connection.servedAs = name;
      done(null, context);
      return;
    }
    // `done` is not called: the handshake ends here, with the connection.
    connection.socket.write(unrecognizedName);
    connection.socket.destroySoon();
  };

/** The first that a client has: processors compute the hashes of this one themselves, and each handshake takes many. */
const tls13Ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
];
/** Authenticated encryption with forward secrecy (RFC 9325, section 4.2); our certificates are ECDSA. None is CBC. */
const tls12Ciphers = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-RSA-CHACHA20-POLY1305',
];

/**
 * For the server and the context of each host. No session is resumed: with ECDSA keys a resumed handshake costs the
 * server as much as a full one (docs/performance.md), and it would not ask for the host's certificate again. Nor is
 * a connection of TLS 1.2 negotiated again, which could change its name but not its certificate.
 */
export const tlsOptions = {
  minVersion: 'TLSv1.2',
  ciphers: [...tls13Ciphers, ...tls12Ciphers].join(':'),
  secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
} as const;
