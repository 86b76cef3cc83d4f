import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { LoadedCertificate } from '../../domains/edge-ports.ts';
import type { RouteTable } from './route-table.ts';
import { tlsOptions } from './tls-options.ts';

/** A context takes some 34 kB; making one takes less time than the handshake that needs it. */
const mostContexts = 500;

/** What TLS needs for a host, made when a visitor first comes. Private keys of hosts without visitors stay sealed. */
export class CertificateShelf {
  readonly #routes: RouteTable;
  readonly #log: Logger;
  readonly #contexts = new LRUCache<string, SecureContext>({
    max: mostContexts,
    dispose: (context) => {
      release(context);
    },
  });
  /** Reported once, not at each visit. */
  readonly #unusable = new Set<string>();

  constructor(routes: RouteTable, log: Logger) {
    this.#routes = routes;
    this.#log = log;
    const forget = (host: string) => {
      this.#contexts.delete(host);
      this.#unusable.delete(host);
    };
    routes.on('removed', forget);
    routes.on('certificate', forget);
  }

  /** @returns undefined when the host is not served, or has no certificate that can be used */
  find(host: string): SecureContext | undefined {
    const known = this.#contexts.get(host);
    if (known) return known;
    const certificate = this.#routes.certificate(host);
    if (!certificate || this.#unusable.has(host)) return undefined;
    try {
      const context = contextFrom(certificate);
      this.#contexts.set(host, context);
      return context;
    } catch (error) {
      this.#log.error({ err: error, host }, 'certificate cannot be used, host refused');
      this.#unusable.add(host);
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

/** @throws Error when the private key does not open, or belongs to another certificate */
const contextFrom = ({ chain, privateKey }: LoadedCertificate): SecureContext =>
  createSecureContext({ cert: chain, key: privateKey(), ...tlsOptions });
