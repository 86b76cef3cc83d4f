import type { Context } from 'koa';

/**
 * Whether another site or a prefetch caused this request, so that the person may not have intended it. For older
 * browsers, the Referer decides if there is one.
 * @param origin of the dashboard, as configured
 */
export const isFromElsewhere = (ctx: Pick<Context, 'get' | 'host'>, origin: string): boolean => {
  if (/prefetch|prerender/i.test(ctx.get('Sec-Purpose') || ctx.get('Purpose'))) return true;
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site !== 'same-origin' && site !== 'none';
  const referrer = ctx.get('Referer');
  return referrer !== '' && !isOurs(referrer, ctx, origin);
};

/**
 * Whether a form that changes something comes from one of our pages. Browsers say so in Sec-Fetch-Site (W3C Fetch
 * Metadata). Older browsers send Origin, which all of them have sent with a POST since 2020. A client that sends
 * neither is not a browser, so no other site can misuse its cookies. "same-site" is not enough, because other people's
 * sites may share the parent domain.
 * @param origin of the dashboard, as configured
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
  // The dashboard may have other host names, but only one scheme.
  return from.origin === origin || (from.host === host && origin.startsWith(from.protocol));
};
