import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  exportDomainSettings,
  noDomainSettings,
  hostIn,
  redirectTarget,
} from '../../../src/domains/domain/redirects/settings.ts';
import {
  isPreview,
  routesOf,
  checkDomainSettings,
  suspensionOf,
  withPrimary,
  type DomainSettingsDraft,
} from '../../../src/domains/domain/redirects/redirects.ts';

const known = (host: string, isServed = true, unicodeHost = host) => {
  return { host, unicodeHost, isServed, liveSince: isServed ? new Date(0) : undefined };
};
const hosts = [
  ...['birds.sites.test', 'example.com', 'www.example.com'].map((host) => known(host)),
  known('xn--bcher-kva.de', false, 'bücher.de'),
];
const facts = { hosts };

const check = (redirects: DomainSettingsDraft['redirects']) =>
  checkDomainSettings({ redirects }, facts).redirects;

const refused = (code: string) => expect.objectContaining({ name: 'DomainError', code });

test('a redirect leads from one host of the project to another, permanently unless chosen otherwise', () => {
  expect(check([{ from: ' WWW.Example.com. ', to: 'example.com' }])).toEqual([
    { from: 'www.example.com', to: 'example.com', status: 308 },
  ]);
  for (const status of [301, 302, 307, 308]) {
    expect(check([{ from: 'www.example.com', to: 'Bücher.de', status }])).toEqual([
      { from: 'www.example.com', to: 'xn--bcher-kva.de', status },
    ]);
  }
});

test('a new primary domain that redirects to the current one swaps with it, and other redirects follow', () => {
  const [com, www, books] = ['example.com', 'www.example.com', 'xn--bcher-kva.de'];
  const redirects = [
    { from: www, to: com, status: 301 },
    { from: books, to: `https://${com}/shop`, status: 308 },
  ] as const;
  const swapped = withPrimary({ primary: com, redirects }, ' WWW.example.com', facts);
  expect(checkDomainSettings(swapped, facts)).toEqual({
    primary: www,
    redirects: [
      { from: com, to: www, status: 301 },
      { from: books, to: `https://${www}/shop`, status: 308 },
    ],
  });
  const elsewhere = withPrimary({ primary: com, redirects }, books, facts);
  expect(() => checkDomainSettings(elsewhere, facts)).toThrow('it cannot be redirected');
  expect(withPrimary({ primary: com, redirects }, null, facts)).toEqual({
    primary: null,
    redirects,
  });
});

test.each([
  ['from', { from: 'gone.com', to: 'example.com' }],
  ['to', { from: 'example.com', to: 'gone.com' }],
  ['to', { from: 'example.com', to: 'example.com' }],
  ['status', { from: 'example.com', to: 'https://birds.com', status: 303 }],
])('a refusal names the invalid field %s of a redirect', (field, redirect) => {
  expect(() => check([redirect])).toThrow(expect.objectContaining({ field }));
});

test('several redirects may lead to one host', () => {
  const to = 'example.com';
  const redirects = [
    { from: 'www.example.com', to },
    { from: 'bücher.de', to },
  ];
  expect(check(redirects)).toHaveLength(2);
});

/** A host of the project, in one of many spellings. */
const spelling = fc
  .record({
    host: fc.constantFrom('example.com', 'www.example.com', 'xn--bcher-kva.de'),
    isUnicode: fc.boolean(),
    isUpper: fc.boolean(),
    scheme: fc.constantFrom('https', 'HTTP'),
    user: fc.constantFrom('', '@'),
    dot: fc.constantFrom('.', '。', '%2E'),
    end: fc.constantFrom('', '.', '。', '%2e'),
    port: fc.constantFrom('', ':', ':443', ':80', ':8443'),
    path: fc.constantFrom('', '/', '/shop/'),
  })
  .map(({ host, isUnicode, isUpper, dot, ...rest }) => {
    const name = isUnicode ? host.replace('xn--bcher-kva', 'bu\u0308cher') : host;
    const written = (isUpper ? name.toUpperCase() : name).replaceAll('.', dot);
    return {
      host,
      to: `${rest.scheme}://${rest.user}${written}${rest.end}${rest.port}${rest.path}`,
    };
  });

describe('these redirects are refused:', () => {
  const www = 'www.example.com';
  const [com, birds] = ['example.com', 'birds.sites.test'];
  test.each<[string, string, DomainSettingsDraft['redirects']]>([
    ['a status that is not a redirect', 'redirect_invalid', [{ from: www, to: com, status: 303 }]],
    ['a source outside the project', 'redirect_unknown_domain', [{ from: 'else.test', to: com }]],
    ['a target outside the project', 'redirect_unknown_domain', [{ from: www, to: 'else.test' }]],
    [
      'an address as a source',
      'redirect_unknown_domain',
      [{ from: 'https://www.example.com', to: com }],
    ],
    [
      'one source twice',
      'redirect_invalid',
      [
        { from: www, to: com },
        { from: 'WWW.example.com', to: birds },
      ],
    ],
    ['a source that leads to itself', 'redirect_loop', [{ from: www, to: www }]],
    [
      'two that lead to each other',
      'redirect_loop',
      [
        { from: www, to: com },
        { from: com, to: www },
      ],
    ],
    [
      'a loop after the target',
      'redirect_loop',
      [
        { from: birds, to: www },
        { from: www, to: com },
        { from: com, to: www },
      ],
    ],
    [
      'a target that redirects',
      'redirect_chain',
      [
        { from: www, to: com },
        { from: com, to: birds },
      ],
    ],
  ])('%s', (_, code, redirects) => {
    expect(() => check(redirects)).toThrow(refused(code));
  });

  test.each<[string, string, DomainSettingsDraft['redirects']]>([
    ['to itself', `${www} cannot redirect to itself.`, [{ from: www, to: www }]],
    [
      'in a loop',
      `The redirect of ${www} ends in a loop: ${com} redirects back to ${www}.`,
      [
        { from: www, to: com },
        { from: com, to: www },
      ],
    ],
    [
      'through a chain, with its end',
      `${com} is redirected itself. Redirect ${www} to ${birds} instead.`,
      [
        { from: www, to: com },
        { from: com, to: birds },
      ],
    ],
    [
      'from a name with U-labels, which are shown with the A-labels',
      'bücher.de (xn--bcher-kva.de) cannot redirect to itself.',
      [{ from: 'xn--bcher-kva.de', to: 'bücher.de' }],
    ],
    [
      'to an unknown domain, with the known ones',
      'Its domains: birds.sites.test, example.com, www.example.com, bücher.de (xn--bcher-kva.de).',
      [{ from: www, to: 'else.test' }],
    ],
  ])('a redirect %s, with this message', (_, words, redirects) => {
    expect(() => check(redirects)).toThrow(words);
  });

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://else.test',
    '//else.test',
    '/path',
    '\\\\else.test',
    'https:else.test',
    'https://',
    'https:///path',
    'https://me@else.test',
    'https://me:secret@else.test',
    'https://else.test/?a=b',
    'https://else.test/#a',
    'https://else.test\\a',
    'https://else.test/\r\nset-cookie: a=b',
    'https://el se.test',
    'https://else.test:99999',
    'https://else..test',
    'https://else.test../',
    'https://.',
    ' java\tscript:alert(1)',
  ])('%j as a target', (to) => {
    const code = to.startsWith(' java') ? 'redirect_unknown_domain' : 'redirect_invalid';
    expect(() => check([{ from: www, to }])).toThrow(refused(code));
  });

  test.each([
    ['redirect_loop', 'https://WWW.example.com/shop'],
    ['redirect_loop', 'https://www.example.com./'],
    ['redirect_chain', 'http://example.com/shop'],
    ['redirect_chain', 'http://example.com./shop'],
  ])('a redirect to a URL is refused with %s', (code, to) => {
    const redirects = [
      { from: www, to },
      { from: com, to: birds },
    ];
    expect(() => check(redirects)).toThrow(refused(code));
  });

  test('a redirect back to itself, however its URL is written', () => {
    const loop = { name: 'DomainError', code: 'redirect_loop' };
    fc.assert(
      fc.property(spelling, ({ host, to }) => {
        expect(() => check([{ from: host, to }])).toThrow(expect.objectContaining(loop));
      }),
    );
  });

  test('a primary domain that redirects, or that the project does not have', () => {
    const redirects = [{ from: www, to: com }];
    const settings = (primary: string) => () => checkDomainSettings({ primary, redirects }, facts);
    expect(settings('WWW.example.com')).toThrow(refused('redirect_invalid'));
    expect(settings('else.test')).toThrow(refused('redirect_unknown_domain'));
    expect(settings('Example.com')()).toMatchObject({ primary: 'example.com' });
  });
});

test('a redirect may lead to an external address', () => {
  const targets = ['https://else.test', 'http://else.test:8080/shop', 'https://else.test/@me/'];
  const redirects = targets.map((to, at) => ({ from: hosts[at]!.host, to }));
  expect(check(redirects).map(({ to }) => to)).toEqual(targets);
  const [idn] = check([{ from: 'example.com', to: ' HTTPS://Bücher.example/ ' }]);
  expect(idn?.to).toBe('https://xn--bcher-kva.example');
});

test('all spellings of a host are one target', () => {
  fc.assert(
    fc.property(spelling, ({ host, to }) => {
      const [redirect] = check([{ from: 'birds.sites.test', to }]);
      expect(hostIn(redirect!.to)).toBe(host);
      expect(suspensionOf(redirect!, hosts, [redirect!]) === undefined).toBe(
        host !== 'xn--bcher-kva.de',
      );
    }),
  );
});

describe('a visitor is sent', () => {
  test.each([
    ['example.com', '/', '', 'https://example.com/'],
    ['example.com', '/a%20b/', 'x=1&y=%2F', 'https://example.com/a%20b/?x=1&y=%2F'],
    ['example.com', '//evil.test/', '', 'https://example.com//evil.test/'],
    ['example.com', '.evil.test', '', 'https://example.com/.evil.test'],
    ['example.com', '', '', 'https://example.com/'],
    ['https://else.test', '/a', 'q', 'https://else.test/a?q'],
    ['https://else.test/shop/', '/a', '', 'https://else.test/shop/a'],
    ['http://else.test:8080/shop', '/a', '', 'http://else.test:8080/shop/a'],
  ])('to %s from "%s" with "%s"', (to, path, query, target) => {
    expect(redirectTarget(to, path, query)).toBe(target);
  });

  test('to the host of the redirect, whatever the path', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (path, query) => {
        const target = redirectTarget('example.com', path, query);
        expect(new URL(target).host).toBe('example.com');
      }),
    );
  });
});

test('a redirect to a domain that is not live is suspended and says so', () => {
  const to = (target: string) =>
    suspensionOf({ from: 'www.example.com', to: target, status: 308 }, hosts, []);
  expect(to('example.com')).toBeUndefined();
  expect(to('https://else.test/')).toBeUndefined();
  expect(to('xn--bcher-kva.de')).toBe('Suspended until xn--bcher-kva.de is live.');
  expect(to('https://xn--bcher-kva.de/shop')).toContain('Suspended');
  expect(to('removed.example.com')).toContain('Suspended');
});

test('settings are exported in exactly one shape', () => {
  const settings = checkDomainSettings(
    { primary: 'example.com', redirects: [{ from: 'www.example.com', to: 'example.com' }] },
    facts,
  );
  expect(JSON.parse(JSON.stringify(exportDomainSettings(settings)))).toStrictEqual({
    domains: {
      primary: 'example.com',
      redirects: [{ from: 'www.example.com', to: 'example.com', status: 308 }],
    },
  });
  const none = { ...noDomainSettings, primary: null };
  expect(exportDomainSettings(none)).toStrictEqual({ domains: { primary: null, redirects: [] } });
  expect(exportDomainSettings(noDomainSettings)).toStrictEqual({ domains: { redirects: [] } });
});

test('exported settings can be imported again', () => {
  const settings = checkDomainSettings(
    {
      primary: null,
      redirects: [{ from: 'www.example.com', to: 'https://else.test/a', status: 302 }],
    },
    facts,
  );
  expect(checkDomainSettings(exportDomainSettings(settings).domains, facts)).toEqual(settings);
});

describe('a wildcard', () => {
  const wild = [known('*.shop.test'), known('b.shop.test'), known('example.com')];
  const draft = (to: string, from = '*.shop.test'): DomainSettingsDraft => ({
    redirects: [{ from, to }],
  });
  const checked = (wanted: DomainSettingsDraft) => checkDomainSettings(wanted, { hosts: wild });

  test('can be redirected to another name, even to one of its own names', () => {
    for (const to of ['example.com', 'b.shop.test', 'https://shop.test', 'https://b.shop.test/x'])
      expect(checked(draft(to)).redirects).toMatchObject([{ from: '*.shop.test' }]);
  });

  test('can be neither a target nor primary, because it is not one name', () => {
    const toWildcard = () => checked(draft('*.shop.test', 'example.com'));
    expect(toWildcard).toThrow(refused('redirect_invalid'));
    const primary = () => checked({ primary: '*.shop.test', redirects: [] });
    expect(primary).toThrow(refused('redirect_invalid'));
  });

  test('does not redirect to a name that it covers, directly or through another', () => {
    expect(() => checked(draft('https://a.shop.test'))).toThrow(refused('redirect_loop'));
    const there = { from: '*.shop.test', to: 'example.com' };
    const back = { from: 'example.com', to: 'https://a.shop.test/x' };
    expect(() => checked({ redirects: [there, back] })).toThrow(refused('redirect_loop'));
  });

  test('serves the site again once it covers the target of its own redirect', () => {
    const redirect = { from: '*.shop.test', to: 'https://b.shop.test', status: 308 } as const;
    expect(suspensionOf(redirect, wild, [redirect])).toBeUndefined();
    const without = wild.filter(({ host }) => host !== 'b.shop.test');
    expect(suspensionOf(redirect, without, [redirect])).toContain('would lead back');
    const other = { ...redirect, from: 'example.com' };
    expect(suspensionOf(other, without, [other])).toBeUndefined();
    expect(suspensionOf(other, [known('*.shop.test', false)], [other])).toContain(
      'until b.shop.test',
    );
  });

  test('is not reached through a name that it covers while it is redirected', () => {
    const there = { from: '*.shop.test', to: 'b.shop.test' };
    const by = (to: string) => () => checked({ redirects: [there, { from: 'example.com', to }] });
    expect(by('https://a.shop.test')).toThrow(refused('redirect_chain'));
    expect(by('b.shop.test')).not.toThrow();
  });

  test('does not create a loop of two when it starts to cover the target of a redirect', () => {
    const out = { from: '*.shop.test', to: 'example.com', status: 308 } as const;
    const back = { from: 'example.com', to: 'https://b.shop.test', status: 308 } as const;
    const settings = { ...noDomainSettings, redirects: [out, back] };
    const project = {
      projectId: 'proj',
      slug: 'birds',
      servedDeployId: 'dep',
      deploys: [],
      withheld: [],
      formerSlugs: [],
      isDeleted: false,
    };
    const kindsOf = (of: readonly ReturnType<typeof known>[]) =>
      Object.fromEntries(
        routesOf({ ...project, hosts: of, settings }).map(({ name, kind }) => [name, kind]),
      );
    const without = wild.filter(({ host }) => host !== 'b.shop.test');
    expect(suspensionOf(back, without, [out, back])).toContain('is itself redirected');
    expect(kindsOf(without)).toMatchObject({ '*.shop.test': 'redirect', 'example.com': 'site' });
    expect(suspensionOf(back, wild, [out, back])).toBeUndefined();
  });
});

test('each deploy has its own address once its project is served', () => {
  const project = {
    projectId: 'proj',
    slug: 'birds',
    hosts: [],
    withheld: [],
    settings: noDomainSettings,
    formerSlugs: [],
    isDeleted: false,
    deploys: [
      { number: 12, id: 'dep_12' },
      { number: 3, id: 'dep_3' },
    ],
  };
  const routes = routesOf({ ...project, servedDeployId: 'dep_3' });
  expect(routes.map((route) => [route.name, 'deployId' in route && route.deployId])).toEqual([
    ['birds', 'dep_3'],
    ['birds--12', 'dep_12'],
    ['birds--3', 'dep_3'],
  ]);
  expect(routes.map(({ name }) => isPreview(name))).toEqual([false, true, true]);
  expect(isPreview('xn--grn-hoa.test')).toBe(false);
  expect(routesOf({ ...project, servedDeployId: undefined })).toEqual([]);
  expect(routesOf({ ...project, servedDeployId: 'dep_3', isDeleted: true })).toEqual([]);
});
