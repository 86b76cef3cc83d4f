import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompressSync, gzip, gzipSync } from 'node:zlib';
import type { Context } from 'koa';

const zip = promisify(gzip);
const worthwhile = 1400;

/** Forbids content from other hosts, inline scripts and styles, and framing. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Sets the headers of every answer of the dashboard. @param isSecure whether browsers reach it over HTTPS */
export const setSecurityHeaders = (ctx: Context, isSecure: boolean): void => {
  ctx.set({
    'Content-Security-Policy': policy,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    // With "no-referrer", browsers would send forms without their origin.
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    ...(isSecure && { 'Strict-Transport-Security': 'max-age=31536000' }),
  });
};

export const sendHtml = async (ctx: Context, status: number, text: string): Promise<void> => {
  ctx.status = status;
  ctx.vary('Accept-Encoding');
  ctx.type = 'text/html; charset=utf-8';
  if (text.length > worthwhile && ctx.acceptsEncodings('gzip', 'identity') === 'gzip') {
    ctx.set('Content-Encoding', 'gzip');
    ctx.body = await zip(text, { level: 4 });
  } else {
    ctx.body = text;
  }
};

export const wantsEvents = (ctx: Context): boolean =>
  ctx.method === 'GET' && ctx.get('Accept').includes('text/event-stream');

/** Sends server-sent events (HTML standard, section 9.2), which proxies must not buffer. */
export const sendEvents = (ctx: Context, events: string | Readable): void => {
  ctx.status = 200;
  ctx.type = 'text/event-stream; charset=utf-8';
  ctx.set({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  ctx.body = events;
};

/** Redirects after a form, so that a reload sends nothing again. @param path may end in `#…` */
export const redirect = (ctx: Context, path: string, done?: string): void => {
  ctx.status = 303;
  const [place = '', row] = path.split('#');
  const mark = place.includes('?') ? '&' : '?';
  const said = done === undefined ? '' : `${mark}done=${encodeURIComponent(done)}`;
  ctx.set('Location', `${place}${said}${row === undefined ? '' : `#${row}`}`);
  ctx.body = '';
};

const types = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' } as const;

const own = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

/** Later sheets may refine earlier ones, so the shared ones come first. */
const sheets = [
  './tokens.css',
  './base.css',
  './parts.css',
  './forms.css',
  './tables.css',
  './frame.css',
  '../account/account.css',
  '../domains/domains.css',
  '../home/home.css',
  '../notices/notices.css',
  '../projects/projects.css',
  '../usage/usage.css',
  '../webhooks/webhooks.css',
];

const names = [
  'dashboard.css',
  'dashboard.js',
  'idiomorph.js',
  'time-words.js',
  'drop-folder.js',
  'fflate.js',
  'passkeys.js',
  'paw.svg',
] as const;
export type AssetName = (typeof names)[number];

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly text: string;
  readonly form: (encoding: 'br' | 'gzip') => Buffer;
}

const nameWithHash = (name: string, text: string): string =>
  name.replace('.', `.${hash('sha256', text, 'hex').slice(0, 12)}.`);

const assetOf = (name: AssetName, text: string): Asset => {
  const [, kind = ''] = /\.(\w+)$/.exec(name) ?? [];
  const forms = new Map<string, Buffer>();
  return {
    path: `/dashboard/assets/${nameWithHash(name, text)}`,
    type: `${types[kind as keyof typeof types]}; charset=utf-8`,
    text,
    form: (encoding) => {
      const known = forms.get(encoding);
      if (known) return known;
      const made = encoding === 'br' ? brotliCompressSync(text) : gzipSync(text);
      forms.set(encoding, made);
      return made;
    },
  };
};

const load = () => {
  const morphingFile = fileURLToPath(import.meta.resolve('idiomorph/dist/idiomorph.esm.js'));
  const morphing = readFileSync(morphingFile, 'utf8');
  const timeWords = own('time-words.js');
  const zipping = readFileSync(fileURLToPath(import.meta.resolve('fflate/browser')), 'utf8');
  const dropping = own('drop-folder.js').replace(
    'fflate/browser',
    `./${nameWithHash('fflate.js', zipping)}`,
  );
  const script = own('browser.js')
    .replace('idiomorph/dist/idiomorph.esm.js', `./${nameWithHash('idiomorph.js', morphing)}`)
    .replace('time-words.js', nameWithHash('time-words.js', timeWords))
    .replace('./drop-folder.js', `./${nameWithHash('drop-folder.js', dropping)}`);
  const texts: Readonly<Record<AssetName, string>> = {
    'dashboard.css': sheets.map(own).join('\n'),
    'dashboard.js': script,
    'idiomorph.js': morphing,
    'time-words.js': timeWords,
    'drop-folder.js': dropping,
    'fflate.js': zipping,
    'passkeys.js': own('../sign-in/passkeys.js'),
    'paw.svg': own('../paw.svg'),
  };
  const byName = new Map(names.map((name) => [name, assetOf(name, texts[name])]));
  return { byName, byPath: new Map([...byName.values()].map((asset) => [asset.path, asset])) };
};

let loaded: ReturnType<typeof load> | undefined;
const assets = (): ReturnType<typeof load> => (loaded ??= load());

export const assetPath = (name: AssetName): string => assets().byName.get(name)?.path ?? '';

export const sendAsset = (ctx: Context): boolean => {
  const asset = assets().byPath.get(ctx.path);
  if (!asset) return false;
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.vary('Accept-Encoding');
  ctx.type = asset.type;
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity');
  if (encoding === 'br' || encoding === 'gzip') {
    ctx.set('Content-Encoding', encoding);
    ctx.body = asset.form(encoding);
  } else {
    ctx.body = asset.text;
  }
  return true;
};
