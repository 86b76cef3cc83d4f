import type { ExtendedError, UncheckedAnswer } from '../../domains/domain/dns/facts.ts';
import type { ServerAddress } from './server-address.ts';
import { exchange } from './wire-exchange.ts';
import {
  canBeAsked,
  decoded,
  queryFor,
  rcodeOf,
  rcodes,
  type WireQuestion,
} from './wire-question.ts';

/**
 * Asks a question that failed with SERVFAIL once more, without and with checking of DNSSEC (RFC 4035, section 3.2.2), in that
 * order: a failure that has passed by the time the first one is answered was none of DNSSEC.
 * @returns undefined unless only the checked one fails
 * @throws the signal's reason, or the socket's error
 */
export const askUnchecked = async (
  server: ServerAddress,
  { type, name }: WireQuestion,
  signal: AbortSignal,
): Promise<UncheckedAnswer | undefined> => {
  if (!canBeAsked(name)) return undefined;
  const ask = (isUnchecked: boolean) =>
    exchange(server, queryFor({ type, name, isUnchecked }), signal);
  const unchecked = rcodeOf(await ask(true));
  if (unchecked !== rcodes.noError && unchecked !== rcodes.noSuchName) return undefined;
  const checked = await ask(false);
  if (rcodeOf(checked) !== rcodes.serverFailure) return undefined;
  return { question: `${type} ${name}`, errors: extendedErrors(checked) };
};

/** The option's number (RFC 8914, section 2). */
const extendedError = 15;
interface Option {
  readonly code: number;
  readonly data?: Buffer | undefined;
}

const most = { errors: 4, characters: 160 } as const;

const extendedErrors = (message: Buffer): readonly ExtendedError[] =>
  (decoded(message)?.additionals ?? [])
    .flatMap((record): readonly Option[] => (record.type === 'OPT' ? record.options : []))
    .flatMap(({ code, data }) =>
      code === extendedError && data && data.length >= 2
        ? [{ code: data.readUInt16BE(0), text: shownText(data.subarray(2)) }]
        : [],
    )
    .slice(0, most.errors);

/** As one line; anybody may have written it, and it is shown to people. */
const shownText = (bytes: Buffer): string => {
  const text = bytes.subarray(0, 4 * most.characters).toString('utf8');
  return [...text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim()].slice(0, most.characters).join('');
};
