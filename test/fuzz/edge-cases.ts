import type { Chance } from './chance.ts';
import type { BytesCase } from './fuzz-case.ts';
import { hostilePath } from './hostile-text.ts';
import { http1Case, type Place } from './http1-cases.ts';
import type { Http1Request } from './http1-request.ts';

const target = 'edge HTTP/1.1';
const plain: Place = { target, port: 'edge' };
const secure: Place = {
  ...{ target, port: 'secure edge' },
  tls: { servername: '{{site}}', protocol: 'http/1.1' },
};

/** Over plain HTTP or TLS. */
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
