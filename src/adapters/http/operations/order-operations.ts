import type { CursorScope } from './cursor.ts';
import { operation, type Operation } from './operation.ts';
import { pageOf, presentPage } from './pages.ts';
import type { CatalogueRoutes } from './pet-operations.ts';
import { ListOrdersQuery, presentOrder } from './schemas.ts';

export const orderOperations = ({
  catalogue,
  cursors,
  baseUrl,
}: CatalogueRoutes): readonly Operation[] => [
  operation({
    id: 'listOrders',
    method: 'GET',
    path: '/store/orders',
    tags: ['orders'],
    summary: 'List orders',
    description:
      'Orders in ascending order of id, a page at a time. Selling an animal creates an order.',
    scope: 'orders:read',
    query: ListOrdersQuery,
    success: {
      status: 200,
      description: 'A page of orders.',
      schema: 'Orders',
      headers: ['NextPage'],
    },
    errors: ['invalid_parameter', 'invalid_cursor'],
    extensions: {
      'x-stability': 'experimental',
      'x-hideTryItPanel': true,
      'x-explorer-enabled': false,
    },
    handle: async ({ caller: { accountId }, query }) => {
      const scope: CursorScope = { list: 'orders', accountId, filter: '' };
      const found = await catalogue.listOrders(accountId, pageOf(cursors, scope, query));
      const page = presentPage(cursors, scope, query, found, `${baseUrl}/store/orders`);
      return { status: 200, headers: page.headers, body: page.rows.map(presentOrder) };
    },
  }),
];
