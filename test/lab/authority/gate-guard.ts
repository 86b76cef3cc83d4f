import { caaRefusal, type CaaQuestion, type Refusal } from './gate-caa.ts';
import { problemText } from './gate-faults.ts';

interface ChallengeDocument {
  readonly type: string;
  readonly url: string;
  readonly token: string;
}

/** What is used of an order, an authorization or the directory. */
export type CaDocument = Record<string, unknown> & {
  readonly identifier?: { readonly value: string };
  readonly wildcard?: boolean;
  readonly challenges?: readonly ChallengeDocument[];
  readonly authorizations?: readonly string[];
};

interface Guarded extends ChallengeDocument {
  readonly host: string;
  readonly isWildcard: boolean;
  readonly authorizationPath: string;
}

const pathOf = (url: string): string => new URL(url).pathname;

/** Checks CAA when a client says that a challenge may be looked at; one that is refused stays invalid. */
export class CaaGuard {
  readonly #issuer: string;
  readonly #dns: string;
  readonly #challenges = new Map<string, Guarded>();
  readonly #refused = new Map<string, Refusal>();

  constructor(issuer: string, dns: string) {
    this.#issuer = issuer;
    this.#dns = dns;
  }

  /** @returns the challenge as it is after a refusal; undefined when the authority shall go on */
  async refuse(path: string, account: string | undefined): Promise<CaDocument | undefined> {
    const challenge = this.#challenges.get(path);
    if (!challenge) return undefined;
    const { host, isWildcard, type, token, url, authorizationPath } = challenge;
    const question: CaaQuestion = { host, isWildcard, method: type, account };
    const refusal = await caaRefusal(question, this.#issuer, this.#dns);
    if (!refusal) return undefined;
    this.#refused.set(authorizationPath, refusal);
    return { type, url, token, status: 'invalid', error: problemOf(refusal) };
  }

  /** Learns which challenge is whose, and shows what was refused as invalid. */
  amend(path: string, document: CaDocument): CaDocument {
    const { identifier, wildcard: isWildcard = false, challenges = [] } = document;
    const { authorizations = [] } = document;
    for (const challenge of challenges) {
      const about = { host: identifier?.value ?? '', isWildcard, authorizationPath: path };
      this.#challenges.set(pathOf(challenge.url), { ...challenge, ...about });
    }
    const refusals = [path, ...authorizations.map(pathOf)].map((at) => this.#refused.get(at));
    const refusal = refusals.find(Boolean);
    if (!refusal) return document;
    const invalid = { status: 'invalid', error: problemOf(refusal) };
    if (!document.challenges) return { ...document, status: 'invalid' };
    return {
      ...document,
      status: 'invalid',
      challenges: challenges.map((challenge) => ({ ...challenge, ...invalid })),
    };
  }
}

const problemOf = (refusal: Refusal): unknown =>
  JSON.parse(problemText(refusal, refusal.type === 'caa' ? 403 : 400));
