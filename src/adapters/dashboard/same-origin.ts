import type { Context } from 'koa';

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
  return from === origin || (URL.canParse(from) && new URL(from).host === ctx.host);
};
