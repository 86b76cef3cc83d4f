import { type Chance, hostileText, hostilePath } from './hostile-text.ts';
import type { BytesCase } from './fuzz-case.ts';
import { http1Case, type Place, type Http1Request } from './http1-cases.ts';

/** The first message of a TLS connection with unknown names, and damaged ones. */
export const helloCase = (chance: Chance): BytesCase => {
  const name = nameFor(chance);
  const hello = clientHello(name, chance);
  const [kind, text] = chance.pick<readonly [string, string]>([
    ['a strange name', hello],
    ['a weird name', hello],
    ['a damaged hello', damaged(hello, chance)],
    ['half a hello', hello.slice(0, chance.below(hello.length))],
    ['no hello', chance.bytes(chance.size(2000))],
    ['empty records', '\x16\x03\x01\0\0'.repeat(chance.size(2000))],
  ]);
  return {
    target: 'edge TLS',
    kind,
    port: 'secure edge',
    pieces: [text],
    wants: 'any',
    asks: [{ method: '', path: '' }],
  };
};

const nameFor = (chance: Chance): string =>
  chance.pick([
    () => hostileText(chance, 3000),
    () => chance.bytes(chance.size(300)),
    () => `${'a.'.repeat(chance.size(2000))}test`,
    () => 'birds.sites.animal-store.test\0.other.test',
    () => '127.0.0.1',
    () => '',
  ])();

const damaged = (text: string, chance: Chance): string => {
  const at = chance.below(text.length);
  return text.slice(0, at) + chance.bytes(chance.between(1, 6)) + text.slice(at + 1);
};

const uint16 = (value: number): string => String.fromCharCode((value >>> 8) & 255, value & 255);
const sized = (text: string): string => uint16(text.length) + text;

/** RFC 5246, section 7.4.1.2, with the server name of RFC 6066, section 3: any bytes, or several names. */
const clientHello = (name: string, chance: Chance): string => {
  const bytes = Buffer.from(name, 'utf8').toString('latin1').slice(0, 15_000);
  const entry = `${chance.oneIn(8) ? chance.bytes(1) : '\0'}${sized(bytes)}`;
  const names = uint16(0) + sized(sized(entry.repeat(chance.oneIn(10) ? 3 : 1)));
  const groups = uint16(10) + sized(sized(uint16(0x1d) + uint16(0x17)));
  const signatures = uint16(13) + sized(sized(uint16(0x0403) + uint16(0x0804)));
  const protocols = chance.oneIn(3) ? uint16(16) + sized(sized('\x02h2')) : '';
  const extensions = sized(names + groups + signatures + protocols);
  const body = `\x03\x03${chance.bytes(32)}\0${sized(uint16(0xc02b) + uint16(0xc02f))}\x01\0${extensions}`;
  const message = `\x01\0${sized(body)}`;
  return `\x16\x03\x01${sized(message)}`;
};

const target = 'edge HTTP/1.1';
const plain: Place = { target, port: 'edge' };
const secure: Place = {
  target,
  port: 'secure edge',
  tls: { servername: '{{site}}', protocol: 'http/1.1' },
};

export const edgeCase = (chance: Chance): BytesCase => {
  const place = chance.oneIn(3) ? plain : secure;
  return http1Case(place, chance, () => edgeRequest(chance));
};

const edgeRequest = (chance: Chance): Http1Request => ({
  method: chance.pick(['GET', 'GET', 'GET', 'HEAD', 'POST', 'OPTIONS', 'PUT']),
  path: hostilePath(chance, chance.pick(['/', '/', '/index.html', '/.well-known/acme-challenge/'])),
  headers: [
    [
      'Host',
      chance.pick(['{{site}}', '{{site}}', '{{site}}', 'other.test', '{{site}}:1', '{{site}}.']),
    ],
    ...chance.times(chance.below(3), () => {
      const [name, values] = chance.pick(odd);
      return [name, chance.pick(values)] as const;
    }),
  ],
});

const odd = [
  [
    'Range',
    [
      'bytes=0-',
      'bytes=-1',
      'bytes=5-1',
      `bytes=${'0-0,'.repeat(1000)}`,
      'x=1',
      'bytes=99999999999999999999-',
    ],
  ],
  ['If-None-Match', ['*', '"x"', '"a",'.repeat(1000), 'W/"']],
  ['If-Range', ['"x"', 'Wed, 21 Oct 2099 07:28:00 GMT', 'x']],
  ['If-Modified-Since', ['x', 'Wed, 21 Oct 2099 07:28:00 GMT', '0']],
  [
    'Accept-Encoding',
    ['gzip', 'br;q=1.0, gzip;q=0', '*;q=0', 'identity;q=0,'.repeat(500), ';;,,', 'gzip;q=x'],
  ],
  ['Accept', ['text/html', '*/*', ';', 'a/b;q=2']],
] as const;
