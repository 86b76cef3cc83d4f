import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { LoadedCertificate } from '../../domains/ports.ts';
import type { RouteTable } from './route-table.ts';
import { tlsOptions } from './tls-options.ts';

/** A context takes some 34 kB; making one takes less time than the handshake that needs it. */
const mostContexts = 500;

/**
 * What TLS needs for a name by which hosts are served, made when a visitor first comes. Private keys of names without
 * visitors stay sealed.
 */
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
    // Hosts of projects may share one.
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

/** @throws Error when the private key does not open, or belongs to another certificate */
const contextFrom = ({ chain, privateKey }: LoadedCertificate): SecureContext =>
  createSecureContext({ cert: chain, key: privateKey(), ...tlsOptions });
