import { Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import type PQueue from 'p-queue';
import {
  largestAnswer,
  type CaaRecord,
  type DnsAnswer,
  type DnsFailure,
  type UncheckedAnswer,
} from '../../domains/domain/dns/facts.ts';
import {
  showServer,
  type ServerAddress,
  askCaa,
  askUnchecked,
  longestName,
  type WireQuestion,
} from './wire-questions.ts';

/** Questions to one resolver. They never reject. Names in answers are lower case. */
export interface Questions {
  a(name: string): Promise<DnsAnswer<string>>;
  aaaa(name: string): Promise<DnsAnswer<string>>;
  /** Returns only the name's own CNAME; the chain is not followed. */
  cname(name: string): Promise<DnsAnswer<string>>;
  txt(name: string): Promise<DnsAnswer<string>>;
  caa(name: string): Promise<DnsAnswer<CaaRecord>>;
  ns(name: string): Promise<DnsAnswer<string>>;
  soa(name: string): Promise<DnsAnswer<string>>;
  unchecked(question: WireQuestion): Promise<UncheckedAnswer | undefined>;
}

export const questionsTo = (server: ServerAddress, limits: QuestionLimits): Questions => {
  const node = new NodeQuestions(server, limits.deadline);
  const ask = async (
    name: string,
    question: (resolver: Resolver) => Promise<Records<string>>,
  ): Promise<DnsAnswer<string>> =>
    // node:dns sends names that are slightly too long, and an answer may never come.
    name.length > longestName
      ? malformed
      : tryAgain(
          async (signal) => withinLimits(await node.ask(question, signal), (text) => text),
          limits,
        );
  return {
    a: (name) => ask(name, async (its) => addresses(await its.resolve4(name, { ttl: true }))),
    aaaa: (name) => ask(name, async (its) => addresses(await its.resolve6(name, { ttl: true }))),
    cname: (name) => ask(name, async (its) => names(await its.resolveCname(name))),
    txt: (name) => ask(name, async (its) => texts(await its.resolveTxt(name))),
    caa: (name) =>
      tryAgain(
        async (signal) =>
          withinLimits(await askCaa(server, name, signal), ({ tag, value }) => tag + value),
        limits,
      ),
    ns: (name) => ask(name, async (its) => names(await its.resolveNs(name))),
    soa: (name) => ask(name, async (its) => names([(await its.resolveSoa(name)).nsname])),
    unchecked: (question) =>
      tryOnce((signal) => askUnchecked(server, question, signal), limits).catch(() => undefined),
  };
};

const malformed = { kind: 'failed', reason: 'malformed' } as const;

const addresses = (
  records: readonly { readonly address: string; readonly ttl: number }[],
): Records<string> => ({
  // Normalised (RFC 5952), so that resolvers can be compared.
  items: records.map(({ address }) => ipaddr.parse(address).toString()),
  ttl: Math.min(...records.map(({ ttl }) => ttl)),
});

const names = (records: readonly string[]): Records<string> => ({
  items: records.map((name) => name.toLowerCase().replace(/\.$/, '')),
});

const texts = (records: readonly (readonly string[])[]): Records<string> => ({
  items: records.map((strings) => strings.join('')),
});

export const withinLimits = <Item>(
  answer: DnsAnswer<Item>,
  textOf: (record: Item) => string,
): DnsAnswer<Item> => {
  if (answer.kind !== 'records') return answer;
  const { records } = answer;
  const characters = records.reduce((sum, record) => sum + textOf(record).length, 0);
  const isTooLarge =
    records.length > largestAnswer.records || characters > largestAnswer.characters;
  return isTooLarge ? { kind: 'failed', reason: 'too_large' } : answer;
};

type Ask<Answer> = (signal: AbortSignal) => Promise<Answer>;

export interface QuestionLimits {
  readonly perTryMs: number;
  readonly tries: number;
  readonly deadline: AbortSignal;
  /** Limits concurrent questions to the same resolver. Waiting does not count towards a try. */
  readonly queue: PQueue;
}

/** Retries failures except unusable answers, which would be the same again. Never rejects. */
export const tryAgain = async <Item>(
  ask: Ask<DnsAnswer<Item>>,
  limits: QuestionLimits,
): Promise<DnsAnswer<Item>> => {
  let answer: DnsAnswer<Item> = timedOut;
  for (let left = limits.tries; left > 0 && !limits.deadline.aborted; left--) {
    answer = await tryOnce(ask, limits).catch(() => timedOut);
    if (answer.kind !== 'failed' || cameAnyway.includes(answer.reason)) break;
  }
  return answer;
};

export const tryOnce = <Answer>(
  ask: Ask<Answer>,
  { perTryMs, deadline, queue }: Omit<QuestionLimits, 'tries'>,
): Promise<Answer> =>
  queue.add(({ signal = deadline }) => ask(signal), { signal: deadline, timeout: perTryMs });

const cameAnyway: readonly DnsFailure[] = ['malformed', 'too_large'];

const timedOut = { kind: 'failed', reason: 'timeout' } as const;

export interface Records<Item> {
  readonly items: readonly Item[];
  readonly ttl?: number;
}

/** A Resolver shortens its time limit after each answer, so only questions before the first answer share one. */
export class NodeQuestions {
  readonly #server: string;
  readonly #end: AbortSignal;
  #unanswered: Resolver | undefined;

  /** @param end must abort, or sockets stay open */
  constructor(server: ServerAddress, end: AbortSignal) {
    this.#server = showServer(server);
    this.#end = end;
  }

  async ask<Item>(
    question: (resolver: Resolver) => Promise<Records<Item>>,
    signal: AbortSignal,
  ): Promise<DnsAnswer<Item>> {
    try {
      const { items, ttl } = await untilAborted(question(this.#resolver()), signal);
      // node:dns returns an empty list if a CNAME's target has no such record.
      return items.length === 0 ? { kind: 'none' } : { kind: 'records', records: items, ttl };
    } catch (error) {
      return signal.aborted ? timedOut : fromCode((error as NodeJS.ErrnoException).code);
    } finally {
      this.#unanswered = undefined;
    }
  }

  #resolver(): Resolver {
    if (this.#unanswered) return this.#unanswered;
    const resolver = new Resolver({ timeout: longestMs, tries: 1 });
    resolver.setServers([this.#server]);
    // Not cancelled when one question times out, because others may share it.
    this.#end.addEventListener(
      'abort',
      () => {
        resolver.cancel();
      },
      { once: true },
    );
    this.#unanswered = resolver;
    return resolver;
  }
}

const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(new Error('aborted'));
    };
    signal.addEventListener('abort', abort, { once: true });
    void work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });

/** Stops c-ares from retrying. Our own signals end a question earlier. */
const longestMs = 30_000;

const reasons: Partial<Record<string, DnsFailure>> = {
  ETIMEOUT: 'timeout',
  ECANCELLED: 'timeout',
  ESERVFAIL: 'servfail',
  EREFUSED: 'refused',
  ENOTIMP: 'refused',
  ECONNREFUSED: 'unreachable',
};

const fromCode = (code = ''): DnsAnswer<never> => {
  if (code === 'ENOTFOUND') return { kind: 'no_such_name' };
  if (code === 'ENODATA') return { kind: 'none' };
  return { kind: 'failed', reason: reasons[code] ?? 'malformed' };
};
