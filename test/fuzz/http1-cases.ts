import type { Chance } from './hostile-text.ts';
import type { Ask, BytesCase } from './fuzz-case.ts';

export interface Http1Request extends Ask {
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string;
}

/** A well-formed request, sometimes with a chunked body. */
const written = (request: Http1Request, chance: Chance): string => {
  const { body } = request;
  if (body === undefined) return head(request) + '\r\n';
  if (chance.oneIn(4))
    return `${head(request)}Transfer-Encoding: chunked\r\n\r\n${chunked(body, chance)}`;
  return `${head(request)}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
};

const head = ({ method, path, headers }: Http1Request): string =>
  `${method} ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`;

const chunked = (body: string, chance: Chance): string => {
  const size = chance.between(1, Math.max(1, body.length));
  const count = Math.ceil(body.length / size);
  const chunks = chance.times(count, (at) => body.slice(at * size, (at + 1) * size));
  return `${chunks.map((one) => `${one.length.toString(16)}\r\n${one}\r\n`).join('')}0\r\n\r\n`;
};

const inPieces = (text: string, chance: Chance): readonly string[] => {
  if (!chance.oneIn(4)) return [text];
  const cuts = chance
    .times(chance.between(1, 4), () => chance.below(text.length))
    .toSorted((a, b) => a - b);
  return [0, ...cuts].map((from, at) => text.slice(from, cuts[at] ?? text.length));
};

type Malform = (request: Http1Request, chance: Chance) => string;

const withHead = (request: Http1Request, lines: string): string =>
  `${head(request)}${lines}\r\n${request.body ?? ''}`;

const bodyOf = ({ body = 'x' }: Http1Request): string => body;
const lengthOf = (request: Http1Request): number => bodyOf(request).length;

const withHeader = (request: Http1Request, name: string, value: string): Http1Request => ({
  ...request,
  headers: [...request.headers, [name, value]],
});

const framings = {
  'a length that is too long': (it) => withHead(it, `Content-Length: ${lengthOf(it) + 9}\r\n`),
  'a length that is too short': (it) =>
    withHead(it, `Content-Length: ${Math.floor(lengthOf(it) / 2)}\r\n`),
  'an invalid length': (it, chance) =>
    withHead(
      it,
      `Content-Length: ${chance.pick(['-1', '+1', '0x5', '1e1', '1 1', '9'.repeat(40), ''])}\r\n`,
    ),
  'two lengths': (it) => withHead(it, `Content-Length: ${lengthOf(it)}\r\nContent-Length: 0\r\n`),
  'a length and chunks': (it, chance) =>
    `${head(it)}Content-Length: ${chance.below(9)}\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(bodyOf(it), chance)}`,
  'an unknown coding': (it, chance) =>
    `${head(it)}Transfer-Encoding: ${chance.pick(['xchunked', 'chunked, gzip', 'gzip, chunked', ' chunked', 'CHUNKED,', '\x0bchunked'])}\r\n\r\n${chunked(bodyOf(it), chance)}`,
  'invalid chunks': (it, chance) =>
    `${head(it)}Transfer-Encoding: chunked\r\n\r\n${chance.pick([
      'x\r\n\r\n',
      '-1\r\na\r\n',
      `${'f'.repeat(chance.between(8, 40))}\r\na`,
      '1\r\nab\r\n0\r\n\r\n',
      `1;${'x'.repeat(chance.size(20_000))}\r\na\r\n0\r\n\r\n`,
      `0\r\nX-Trailer: ${chance.bytes(20)}\r\n\r\n`,
      '1\na\n0\n\n',
    ])}`,
  'no end': (it, chance) => head(it).slice(0, chance.below(head(it).length)),
  'an expectation': (it, chance) =>
    withHead(
      it,
      `Expect: ${chance.pick(['100-continue', '200-ok', '', 'x'.repeat(100)])}\r\nContent-Length: ${lengthOf(it)}\r\n`,
    ),
} as const satisfies Record<string, Malform>;

const heads = {
  'bare line feeds': (it) => head(it).replaceAll('\r\n', '\n') + '\n',
  'a bare carriage return': (it) => withHead(withHeader(it, 'X', 'a\rHost: other.test'), ''),
  'a folded header': (it) => withHead(it, 'X: a\r\n b\r\n'),
  'a space before a colon': (it) => withHead(it, 'Content-Length : 0\r\n'),
  'a header of any bytes': (it, chance) =>
    withHead(withHeader(it, chance.bytes(chance.between(1, 8)), chance.bytes(20)), ''),
  'two hosts': (it) => withHead(withHeader(it, 'Host', 'other.test'), ''),
  'no host': (it) =>
    withHead({ ...it, headers: it.headers.filter(([name]) => name !== 'Host') }, ''),
  'a host of any kind': (it, chance) => {
    const host = chance.pick([
      '',
      ' ',
      'a b',
      '[::1',
      'x:99999',
      'é',
      'a'.repeat(5000),
      'a,b',
      '@',
      'x/y',
    ]);
    const others = it.headers.filter(([name]) => name !== 'Host');
    return withHead({ ...it, headers: [['Host', host], ...others] }, '');
  },
  'a URL as its path': (it, chance) =>
    withHead(
      {
        ...it,
        path:
          chance.pick(['http://other.test/', 'https://@/', 'http:', '//', '*', 'a:1', '://']) +
          it.path,
      },
      '',
    ),
  'a random method': (it, chance) =>
    withHead(
      {
        ...it,
        method: chance.pick([
          'CONNECT',
          'TRACE',
          'PRI',
          'get',
          'PROPFIND',
          'QUERY',
          'X'.repeat(300),
          chance.bytes(4),
        ]),
      },
      '',
    ),
  'another version': (it, chance) =>
    withHead(it, '').replace(
      ' HTTP/1.1',
      chance.pick([' HTTP/1.0', ' HTTP/0.9', ' HTTP/2.0', '', ' HTTP/9.9', ' http/1.1']),
    ),
  'very many headers': (it, chance) =>
    withHead(it, chance.times(chance.between(90, 2500), (at) => `X-${at}: y\r\n`).join('')),
  'a very long header': (it, chance) =>
    withHead(withHeader(it, 'X', 'x'.repeat(chance.between(7_000, 90_000))), ''),
  'an upgrade to another protocol': (it, chance) =>
    withHead(
      it,
      `Connection: Upgrade\r\nUpgrade: ${chance.pick(['h2c', 'websocket', 'TLS/1.0'])}\r\n`,
    ),
} as const satisfies Record<string, Malform>;

const damaged = (text: string, chance: Chance): string => {
  const at = chance.below(text.length);
  const length = chance.size(40);
  switch (chance.below(4)) {
    case 0:
      return text.slice(0, at) + text.slice(at + length);
    case 1:
      return text.slice(0, at) + chance.bytes(length) + text.slice(at);
    case 2:
      return (
        text.slice(0, at) +
        text.slice(at, at + length).repeat(chance.between(2, 9)) +
        text.slice(at)
      );
    default:
      return text.slice(0, at) + chance.bytes(1) + text.slice(at + 1);
  }
};

const damages = {
  'damaged bytes': (it, chance) => {
    let text = written(it, chance);
    for (let left = chance.between(1, 6); left > 0; left--) text = damaged(text, chance);
    return text;
  },
  'random bytes': (_, chance) => chance.bytes(chance.size(2000)),
} as const satisfies Record<string, Malform>;

const malformations: readonly (readonly [string, Malform])[] = Object.entries({
  ...framings,
  ...heads,
  ...damages,
});

/** A malformed request that servers may interpret differently. */
const malformed = (
  request: Http1Request,
  chance: Chance,
): { readonly kind: string; readonly text: string } => {
  const [kind, malform] = chance.pick(malformations);
  return { kind, text: malform(request, chance) };
};

export type Place = Pick<BytesCase, 'target' | 'port' | 'tls'>;

/** Requests over one HTTP/1.1 connection: well-formed ones, or a malformed one among them. */
export const http1Case = (place: Place, chance: Chance, request: () => Http1Request): BytesCase => {
  const requests = chance.times(chance.oneIn(3) ? chance.between(2, 4) : 1, request);
  if (chance.oneIn(3)) return withMalformed(place, chance, requests);
  const isWellFormed = requests.every(({ path }) => /^[!-~]+$/.test(path));
  const asks = requests.map(({ method, path }) => ({ method, path }));
  const text = requests
    .map((one, at) => written(at === requests.length - 1 ? closing(one) : one, chance))
    .join('');
  return {
    ...place,
    pieces: inPieces(text, chance),
    asks,
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
