import type { Chance } from './chance.ts';
import type { BytesCase } from './fuzz-case.ts';
import { inPieces, malformed, written, type Http1Request } from './http1-request.ts';

export type Place = Pick<BytesCase, 'target' | 'port' | 'tls'>;

/** Requests over one connection of HTTP/1.1: well-formed ones, one after another, or a malformed one among them. */
export const http1Case = (place: Place, chance: Chance, request: () => Http1Request): BytesCase => {
  const requests = chance.times(chance.oneIn(3) ? chance.between(2, 4) : 1, request);
  if (chance.oneIn(3)) return withMalformed(place, chance, requests);
  const isWellFormed = requests.every(({ path }) => /^[!-~]+$/.test(path));
  const asks = requests.map(({ method, path }) => ({ method, path }));
  const text = requests
    .map((one, at) => written(at === requests.length - 1 ? closing(one) : one, chance))
    .join('');
  return {
    ...{ ...place, pieces: inPieces(text, chance), asks },
    ...(isWellFormed
      ? { kind: 'well-formed', wants: 'answers' }
      : { kind: 'letters in a path', wants: 'any' }),
  };
};

const closing = (request: Http1Request): Http1Request => ({
  ...request,
  headers: [...request.headers, ['Connection', 'close']],
});

const withMalformed = (
  place: Place,
  chance: Chance,
  requests: readonly Http1Request[],
): BytesCase => {
  const worst = chance.below(requests.length);
  let kind = '';
  const texts = requests.map((one, at) => {
    if (at !== worst) return written(one, chance);
    const { text, kind: how } = malformed(one, chance);
    kind = how;
    return text;
  });
  const asks = requests.map(({ method, path }) => ({ method, path }));
  return { ...place, kind, pieces: inPieces(texts.join(''), chance), asks, wants: 'any' };
};
