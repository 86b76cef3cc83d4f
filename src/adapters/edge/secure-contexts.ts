import { constants } from 'node:crypto';
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { LoadedCertificate } from '../../domains/ports.ts';
import type { EdgeConnections } from './edge-connections.ts';
import type { RouteTable } from './route-table.ts';

const mostContexts = 500;

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

/** Frees native memory early, because the garbage collector does not count it. The method is undocumented. */
const release = (context: SecureContext): void => {
  (context.context as { close?: () => void }).close?.();
};

const contextFrom = ({ chain, privateKey }: LoadedCertificate): SecureContext =>
  createSecureContext({ cert: chain, key: privateKey(), ...tlsOptions });

type Callback = (error: Error | null, context?: SecureContext) => void;

/** The fatal alert `unrecognized_name`, unencrypted (RFC 8446, section 6; RFC 6066, section 3). */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

interface ServerNamePorts {
  readonly routes: Pick<RouteTable, 'nameFor'>;
  readonly certificates: SecureContexts;
  readonly connections: Pick<EdgeConnections, 'below'>;
}

/** Node can only drop a connection with an unknown name, so we write the alert to the socket below TLS. */
export const serverNames = ({ routes, certificates, connections }: ServerNamePorts) =>
  // Node calls this function as a method of the TLS socket.
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
    // `done` is not called, because the connection ends here.
    connection.socket.write(unrecognizedName);
    connection.socket.destroySoon();
  };

/** The first cipher that the client supports is chosen. The first one here uses hardware acceleration. */
const tls13Ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
];
/** Authenticated encryption with forward secrecy (RFC 9325, section 4.2). CBC is not used. */
const tls12Ciphers = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-RSA-CHACHA20-POLY1305',
];

/**
 * TLS options of the server and of each host. Session resumption is off: with ECDSA it saves the server nothing
 * (docs/performance.md) and skips the check of the host's certificate. TLS 1.2 renegotiation is off, because it could
 * change the name but not the certificate.
 */
export const tlsOptions = {
  minVersion: 'TLSv1.2',
  ciphers: [...tls13Ciphers, ...tls12Ciphers].join(':'),
  secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
} as const;
