import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { LoadedCertificate } from '../../domains/ports.ts';
import type { Clock } from '../../kernel/clock.ts';
import { readPlatformPem, UnusableCertificate, type PlatformPem } from './platform-pem.ts';

/** Where the operator keeps the certificate of the platform. */
export interface PlatformPaths {
  readonly certificateFile: string;
  readonly keyFile: string;
}

interface Ports {
  readonly clock: Clock;
  readonly log: Logger;
}

/** Changes are found within a minute. */
const lookMs = 20_000;

/** The certificate in the operator's files, read again when they change. */
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

  /** Undefined until `start`. */
  get certificate(): LoadedCertificate | undefined {
    return this.#certificate;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Reads both files, and again whenever they change, until `stop`. @throws UnusableCertificate */
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

  /** Reads both files again; runs automatically. */
  async look(): Promise<void> {
    const { clock, log } = this.#ports;
    try {
      const pem = await readPlatformFiles(this.#paths);
      if (isSame(pem, this.#read)) return;
      this.#certificate = readPlatformPem(pem, this.#platformHost, clock.now());
      this.#read = pem;
      this.#problem = undefined;
      const { notAfter } = this.#certificate;
      log.info({ notAfter }, "the platform's certificate was read again from its files");
      for (const listener of this.#listeners) listener();
    } catch (error) {
      this.#keep(error instanceof Error ? error.message : String(error));
    }
  }

  /** Told once, not at each look. */
  #keep(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    const text = "the platform's certificate cannot be used, kept the one before";
    this.#ports.log.warn({ problem }, text);
  }
}

/** @throws UnusableCertificate for a file that cannot be read */
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
