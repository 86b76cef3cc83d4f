import type { Context } from 'koa';

/**
 * Whether a page elsewhere, or a program that reads ahead, made the browser ask for this one: then nobody may have meant
 * it. Older browsers tell by the page that they come from, if it lets them.
 * @param origin of the dashboard, as it is configured
 */
export const isFromElsewhere = (ctx: Pick<Context, 'get' | 'host'>, origin: string): boolean => {
  if (/prefetch|prerender/i.test(ctx.get('Sec-Purpose') || ctx.get('Purpose'))) return true;
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site !== 'same-origin' && site !== 'none';
  const referrer = ctx.get('Referer');
  return referrer !== '' && !isOurs(referrer, ctx, origin);
};

/**
 * Whether a form that changes something comes from a page of ours. Browsers say so in Sec-Fetch-Site (W3C Fetch
 * Metadata), older ones in Origin, which all of them send with a POST since 2020; who says neither is no browser, and
 * brings no cookie but its own. "same-site" is not enough: sites of others may lie below the same domain.
 * @param origin of the dashboard, as it is configured
 */
export const isFromOurPage = (ctx: Pick<Context, 'get' | 'host'>, origin: string): boolean => {
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site === 'same-origin' || site === 'none';
  const from = ctx.get('Origin');
  if (from === '') return true;
  return isOurs(from, ctx, origin);
};

const isOurs = (address: string, { host }: Pick<Context, 'host'>, origin: string): boolean => {
  if (!URL.canParse(address)) return false;
  const from = new URL(address);
  return from.origin === origin || from.host === host;
};
