import { zipOf } from '../support/sites/archive-bytes.ts';
import { type Chance, asBytes, hostilePath, hostileText } from './hostile-text.ts';
import { attackers, type BytesCase } from './fuzz-case.ts';
import { http1Case, type Http1Request } from './http1-cases.ts';

interface KnownForm {
  readonly method: string;
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** The pages and forms of the dashboard, found by a crawl. */
export interface KnownPages {
  readonly paths: readonly string[];
  readonly forms: readonly KnownForm[];
}

const place = { target: 'dashboard', port: 'service' } as const;

export const dashboardCase = (chance: Chance, known: KnownPages): BytesCase =>
  http1Case(place, chance, () => {
    if (chance.oneIn(3)) return visit(chance, known);
    return chance.oneIn(12) ? upload(chance) : submit(chance, known);
  });

const visit = (chance: Chance, { paths }: KnownPages): Http1Request => {
  const known = chance.pick(paths);
  const path = chance.oneIn(3)
    ? hostilePath(chance, chance.oneIn(2) ? '/dashboard' : known)
    : known + (chance.oneIn(4) ? hostileQuery(chance) : '');
  const method = chance.pick(['GET', 'GET', 'GET', 'GET', 'HEAD', 'PUT', 'OPTIONS', 'DELETE']);
  return { method, path, headers: visitorHeaders(chance, isDangerous(path)) };
};

const hostileQuery = (chance: Chance): string => {
  const name = chance.pick([
    'status',
    'range',
    'who',
    'what',
    'before',
    'done',
    'next',
    'tab',
    'order_status',
  ]);
  return `?${name}=${encodeURIComponent(hostileText(chance, 500))}`;
};

/**
 * Requests that end the attacker's session or delete its data are only sent in ways that must be refused.
 */
const isDangerous = (path: string): boolean =>
  /sign-out|sessions|\/remove|\/revoke|\/people\/|\/password|\/delete/.test(path);

const foreign = [
  ['Sec-Fetch-Site', 'cross-site'],
  ['Sec-Fetch-Site', 'same-site'],
  ['Origin', 'https://evil.test'],
  ['Origin', 'null'],
] as const;
const wrongCookies = ['', 'session=', `session=${'x'.repeat(43)}`, 'session=a; session=b', ';;;='];

const visitorHeaders = (chance: Chance, isRefused: boolean): Http1Request['headers'] => {
  const isForeign = isRefused ? chance.oneIn(2) : chance.oneIn(6);
  const isSignedIn = isRefused ? isForeign : !chance.oneIn(6);
  return [
    ['Host', '{{host}}'],
    [
      'Cookie',
      isSignedIn ? `{{cookie${String(chance.below(attackers))}}}` : chance.pick(wrongCookies),
    ],
    isForeign ? chance.pick(foreign) : ['Sec-Fetch-Site', 'same-origin'],
    ['X-Forwarded-For', chance.times(4, () => String(chance.below(256))).join('.')],
    ...(chance.oneIn(8)
      ? [['User-Agent', asBytes(hostileText(chance, 300)).replace(/[\0\r\n]/g, ' ')] as const]
      : []),
    ...(chance.oneIn(20) ? [['Accept', 'text/event-stream'] as const] : []),
  ];
};

const formType = 'application/x-www-form-urlencoded';

const submit = (chance: Chance, { forms }: KnownPages): Http1Request => {
  const { action, fields } = chance.pick(forms);
  const isOff = chance.oneIn(12);
  const path = isOff ? hostilePath(chance, action) : action;
  const headers = visitorHeaders(chance, isDangerous(path));
  const type = chance.oneIn(12)
    ? chance.pick([
        'text/plain',
        'application/json',
        'multipart/form-data',
        `${formType};`.repeat(99),
      ])
    : formType;
  const body = new URLSearchParams(fieldsFor(chance, fields)).toString();
  return {
    method: 'POST',
    path,
    headers: [...headers, ['Content-Type', type]],
    body: chance.oneIn(15) ? body + chance.bytes(chance.size(500)) : body,
  };
};

const fieldsFor = (chance: Chance, fields: KnownForm['fields']): [string, string][] => {
  const filled = Object.entries(fields).flatMap(([name, value]): [string, string][] => {
    if (name === 'once') return [[name, `form_${chance.hex(32)}`]];
    if (chance.oneIn(10)) return [];
    const typed = chance.oneIn(4) ? value : hostileText(chance, 40_000);
    return chance.oneIn(15)
      ? [
          [name, typed],
          [name, hostileText(chance)],
        ]
      : [[name, typed]];
  });
  return chance.oneIn(15)
    ? [...filled, ['__proto__', 'x'], [hostileText(chance, 99), 'x']]
    : filled;
};

const upload = (chance: Chance): Http1Request => {
  const boundary = chance.pick(['x', 'x', '--', `b${chance.hex(60)}`]);
  const name = chance.oneIn(4)
    ? asBytes(hostileText(chance, 300)).replace(/[\r\n"]/g, '')
    : 'archive';
  const part = (content: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="a.zip"\r\n\r\n${content}\r\n`;
  const once = `--${boundary}\r\nContent-Disposition: form-data; name="once"\r\n\r\nform_${chance.hex(20)}\r\n`;
  const parts = chance.times(chance.oneIn(6) ? 3 : 1, () => part(archive(chance)));
  const body = once + parts.join('') + (chance.oneIn(5) ? '' : `--${boundary}--\r\n`);
  const type = `multipart/form-data${chance.oneIn(8) ? '' : `; boundary=${boundary}`}`;
  return {
    method: 'POST',
    path: '/dashboard/projects/{{slug}}/deploys',
    headers: [...visitorHeaders(chance, false), ['Content-Type', type]],
    body: chance.oneIn(6) ? body.slice(0, chance.below(body.length)) : body,
  };
};

const archive = (chance: Chance): string => {
  if (chance.oneIn(5)) return chance.bytes(chance.size(3000));
  const entries = chance.times(chance.between(0, 5), () => ({
    name: chance.oneIn(3) ? hostileText(chance, 2000) : `${chance.hex(3)}.html`,
    content: chance.bytes(chance.size(2000)),
    ...(chance.oneIn(10) && { method: chance.below(20) }),
    ...(chance.oneIn(10) && { mode: chance.below(0x10000) }),
    ...(chance.oneIn(10) && { size: chance.below(2 ** 31) }),
    ...(chance.oneIn(10) && { localOffset: chance.below(2 ** 31) }),
  }));
  const bytes = zipOf([{ name: 'index.html' }, ...entries]).toString('latin1');
  if (!chance.oneIn(3)) return bytes;
  const at = chance.below(bytes.length);
  return bytes.slice(0, at) + chance.bytes(chance.between(1, 4)) + bytes.slice(at + 1);
};
