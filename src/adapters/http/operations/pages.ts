import type { Cursors, CursorScope } from './cursor.ts';

export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Start of the page, and one row more than requested, to know whether there is a next page. */
export const pageOf = (cursors: Cursors, scope: CursorScope, { limit, cursor }: PageQuery) => ({
  after: cursor === undefined ? 0n : cursors.decode(scope, cursor),
  limit: limit + 1,
});

/**
 * Cuts the extra row off and links to the next page (RFC 8288), if there is one.
 * @param address absolute address of the list, without a query
 * @param filter what the page is filtered by, as the rest of a query: `&status=sold`
 */
export const presentPage = <Row extends { readonly id: bigint }>(
  cursors: Cursors,
  scope: CursorScope,
  { limit }: PageQuery,
  rows: readonly Row[],
  address: string,
  filter = '',
): { readonly rows: readonly Row[]; readonly headers: Readonly<Record<string, string>> } => {
  if (rows.length <= limit) return { rows, headers: {} };
  const page = rows.slice(0, limit);
  const after = page.at(-1)?.id ?? 0n;
  const query = `limit=${String(limit)}${filter}&cursor=${cursors.encode(scope, after)}`;
  return { rows: page, headers: { Link: `<${address}?${query}>; rel="next"` } };
};
