import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Context } from 'koa';

const types = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' } as const;

const own = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

/** Compares two trees of a page and changes only what differs: what has the focus keeps it. */
const morphingModule = 'idiomorph/dist/idiomorph.esm.js';
const morphing = readFileSync(createRequire(import.meta.url).resolve(morphingModule), 'utf8');

const texts = {
  'dashboard.css': ['dashboard.css', 'domains.css', 'usage.css'].map(own).join('\n'),
  'idiomorph.js': morphing,
  'paw.svg': own('paw.svg'),
} as const;

const nameWithHash = (name: string, text: string): string =>
  name.replace('.', `.${hash('sha256', text, 'hex').slice(0, 12)}.`);

const script = own('browser.js').replace(
  morphingModule,
  `./${nameWithHash('idiomorph.js', morphing)}`,
);

const assets = new Map(
  Object.entries({ ...texts, 'dashboard.js': script }).map(([name, text]) => {
    const [, kind = ''] = /\.(\w+)$/.exec(name) ?? [];
    const type = `${types[kind as keyof typeof types]}; charset=utf-8`;
    const forms = { br: brotliCompressSync(text), gzip: gzipSync(text) };
    return [name, { path: `/dashboard/assets/${nameWithHash(name, text)}`, type, text, forms }];
  }),
);

const byPath = new Map([...assets.values()].map((asset) => [asset.path, asset]));

/** Its name has a hash of its content in it: another content has another name. */
export const assetPath = (name: keyof typeof texts | 'dashboard.js'): string =>
  assets.get(name)?.path ?? '';

/** @returns whether there is such an asset */
export const sendAsset = (ctx: Context): boolean => {
  const asset = byPath.get(ctx.path);
  if (!asset) return false;
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.vary('Accept-Encoding');
  ctx.type = asset.type;
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity');
  if (encoding === 'br' || encoding === 'gzip') {
    ctx.set('Content-Encoding', encoding);
    ctx.body = asset.forms[encoding];
  } else {
    ctx.body = asset.text;
  }
  return true;
};
