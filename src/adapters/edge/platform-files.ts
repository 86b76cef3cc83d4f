import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { pairOf } from '../../domains/domain/own/own-name.ts';
import type { LoadedCertificate } from '../../domains/ports.ts';
import type { Clock } from '../../kernel/ports.ts';

interface PlatformPaths {
  readonly certificateFile: string;
  readonly keyFile: string;
}

interface Ports {
  readonly clock: Clock;
  readonly log: Logger;
}

const lookMs = 20_000;

export class WatchedPlatformFiles {
  readonly #paths: PlatformPaths;
  readonly #platformHost: string;
  readonly #ports: Ports;
  readonly #stopping = new AbortController();
  readonly #listeners: (() => void)[] = [];
  #certificate: LoadedCertificate | undefined;
  #read: PlatformPem | undefined;
  #problem: string | undefined;

  constructor(paths: PlatformPaths, platformHost: string, ports: Ports) {
    this.#paths = paths;
    this.#platformHost = platformHost;
    this.#ports = ports;
  }

  get certificate(): LoadedCertificate | undefined {
    return this.#certificate;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async start(): Promise<void> {
    const pem = await readPlatformFiles(this.#paths);
    this.#certificate = readPlatformPem(pem, this.#platformHost, this.#ports.clock.now());
    this.#read = pem;
    void this.#follow();
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      await delay(lookMs, undefined, { ref: false, signal }).catch(() => undefined);
      if (signal.aborted) return;
      await this.look();
    }
  }

  async look(): Promise<void> {
    const { clock, log } = this.#ports;
    try {
      const pem = await readPlatformFiles(this.#paths);
      if (isSame(pem, this.#read)) return;
      this.#certificate = readPlatformPem(pem, this.#platformHost, clock.now());
      this.#read = pem;
      this.#problem = undefined;
      const { notAfter } = this.#certificate;
      log.info({ notAfter }, "the platform's certificate files were read again");
      for (const listener of this.#listeners) listener();
    } catch (error) {
      this.#keep(error instanceof Error ? error.message : String(error));
    }
  }

  #keep(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    const text = "the platform's new certificate cannot be used, keeping the old one";
    this.#ports.log.warn({ problem }, text);
  }
}

export const readPlatformFiles = async ({
  certificateFile,
  keyFile,
}: PlatformPaths): Promise<PlatformPem> => ({
  certificate: await textOf('PLATFORM_CERTIFICATE_FILE', certificateFile),
  key: await textOf('PLATFORM_KEY_FILE', keyFile),
});

const textOf = async (setting: string, path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new UnusableCertificate(
      `${setting} cannot be read (${code}); it must be a file that this user can read.`,
    );
  }
};

const isSame = (one: PlatformPem, other: PlatformPem | undefined): boolean =>
  one.certificate === other?.certificate && one.key === other.key;

interface PlatformPem {
  readonly certificate: string;
  readonly key: string;
}

class UnusableCertificate extends Error {
  override readonly name = 'UnusableCertificate';
}

export const readPlatformPem = (
  pem: PlatformPem,
  platformHost: string,
  now: Date,
): LoadedCertificate => {
  const blocks = certificatesIn(pem.certificate);
  const [leaf, ...issuers] = blocks.map(readCertificate);
  if (!leaf) throw ofCertificate('has no certificate; it must have one in PEM form');
  checkNames(leaf, platformHost);
  if (!leaf.checkPrivateKey(readKey(pem.key)))
    throw ofKey('does not match the certificate; give the key that it was requested with');
  checkChain(leaf, issuers);
  const [notBefore, notAfter] = [leaf.validFromDate, leaf.validToDate];
  if (notAfter <= now)
    throw ofCertificate(`expired at ${notAfter.toISOString()}; give a renewed one`);
  if (notBefore > now)
    throw ofCertificate(
      `is not valid before ${notBefore.toISOString()}; give one that is valid now`,
    );
  const { host } = pairOf(platformHost);
  return { host, chain: blocks.join('\n'), privateKey: () => pem.key, notBefore, notAfter };
};

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';

const certificatesIn = (text: string): readonly string[] =>
  text
    .split(begin)
    .slice(1)
    .map((rest) => `${begin}${rest.split(end)[0] ?? ''}${end}`);

const readCertificate = (pem: string): X509Certificate => {
  try {
    return new X509Certificate(pem);
  } catch {
    throw ofCertificate('cannot be read; it must be PEM');
  }
};

const readKey = (pem: string): KeyObject => {
  try {
    return createPrivateKey(pem);
  } catch {
    throw ofKey('cannot be read; it must be a private key in PEM form, without a passphrase');
  }
};

/** Checks alternative names only, because browsers ignore the common name. */
const checkNames = (leaf: X509Certificate, platformHost: string): void => {
  const { host, also } = pairOf(platformHost);
  const names = (leaf.subjectAltName ?? '').toLowerCase().split(', ');
  const missing = [...also, host].filter((name) => !names.includes(`dns:${name}`));
  if (missing.length > 0)
    throw ofCertificate(
      `is not for ${missing.join(' and ')}; it must be for ${[...also, host].join(' and ')}`,
    );
};

const checkChain = (leaf: X509Certificate, issuers: readonly X509Certificate[]): void => {
  let issued = leaf;
  for (const issuer of issuers) {
    const isIssuer = issuer.ca && issued.checkIssued(issuer) && issued.verify(issuer.publicKey);
    if (!isIssuer)
      throw ofCertificate(
        'has certificates in the wrong order; put your own first, then the issuer of each one',
      );
    issued = issuer;
  }
};

const ofCertificate = (problem: string) =>
  new UnusableCertificate(`PLATFORM_CERTIFICATE_FILE ${problem}.`);
const ofKey = (problem: string) => new UnusableCertificate(`PLATFORM_KEY_FILE ${problem}.`);
