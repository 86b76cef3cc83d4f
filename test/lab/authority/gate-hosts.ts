import type { CaDocument } from './gate-guard.ts';

interface WantedOrder {
  readonly identifiers?: readonly { readonly value: string }[];
}

const pathOf = (url: string): string => new URL(url).pathname;

/** Whose order a request belongs to, as the documents say that led to it; a wildcard with its star. */
export class GateHosts {
  readonly #hosts = new Map<string, string>();

  of(path: string, payload: unknown): string | undefined {
    const { identifiers } = (payload ?? {}) as WantedOrder;
    return identifiers?.[0]?.value ?? this.#hosts.get(path);
  }

  /** @param host whose document it is */
  learn(host: string, { authorizations = [], challenges = [], ...order }: CaDocument): void {
    const { location, finalize, certificate } = order as Partial<Record<string, string>>;
    const urls = [location, finalize, certificate, ...authorizations];
    for (const url of [...urls, ...challenges.map((one) => one.url)]) {
      if (url !== undefined) this.#hosts.set(pathOf(url), host);
    }
  }
}
