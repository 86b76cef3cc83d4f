import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'koa';

const zip = promisify(gzip);
/** Compression does not help below that size. */
const worthwhile = 1400;

/** Nothing from other hosts, nothing inline, no framing. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** On every answer of the dashboard. @param isSecure whether browsers reach it over HTTPS */
export const setSecurityHeaders = (ctx: Context, isSecure: boolean): void => {
  ctx.set({
    'Content-Security-Policy': policy,
    'X-Content-Type-Options': 'nosniff',
    // Assets, which may be kept, say so themselves.
    'Cache-Control': 'no-store',
    // Not "no-referrer": browsers then send forms without their origin.
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

/** Whether a script asks for live updates. */
export const wantsEvents = (ctx: Context): boolean =>
  ctx.method === 'GET' && ctx.get('Accept').includes('text/event-stream');

/** Server-sent events (HTML standard, section 9.2); proxies must not buffer them. */
export const sendEvents = (ctx: Context, events: string | Readable): void => {
  ctx.status = 200;
  ctx.type = 'text/event-stream; charset=utf-8';
  ctx.set({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  ctx.body = events;
};

/** After a form: the browser asks for the page with GET, and a reload sends nothing again. @param path may end in `#…` */
export const redirect = (ctx: Context, path: string, done?: string): void => {
  ctx.status = 303;
  const [place = '', row] = path.split('#');
  const mark = place.includes('?') ? '&' : '?';
  const said = done === undefined ? '' : `${mark}done=${encodeURIComponent(done)}`;
  ctx.set('Location', `${place}${said}${row === undefined ? '' : `#${row}`}`);
  ctx.body = '';
};
