import type { Catalogue } from '../../../catalogue/catalogue.ts';
import { petNotFound } from '../../../catalogue/domain/catalogue-error.ts';
import { readId } from '../../../catalogue/domain/pet.ts';
import { pageOf, presentPage, type Cursors, type CursorScope } from './cursors.ts';
import { operation, type Operation } from './operation.ts';
import { ListOrdersQuery, ListPetsQuery, NewPet, presentOrder, presentPet } from './schemas.ts';

const petById = 'getPet';
const petByIdDeprecatedSince = new Date('2025-12-05T00:00:00Z');
/** From then on `GET /pets/{petId}` answers 410. The API announces this date. */
const petByIdSunset = new Date('2030-12-05T00:00:00Z');

export const operationSunsets: ReadonlyMap<string, Date> = new Map([[petById, petByIdSunset]]);

export interface CatalogueRoutes {
  readonly catalogue: Catalogue;
  readonly cursors: Cursors;
  /** Public base address without a trailing slash. */
  readonly baseUrl: string;
}

export const catalogueOperations = ({
  catalogue,
  cursors,
  baseUrl,
}: CatalogueRoutes): readonly Operation[] => [
  operation({
    id: 'listPets',
    method: 'GET',
    path: '/pets',
    tags: ['animals'],
    summary: 'List animals',
    description:
      'Animals in ascending order of id, a page at a time. The next page is in the `Link` header with `rel="next"`; ' +
      'there is none on the last page. A cursor belongs to its filter.',
    scope: 'pets:read',
    query: ListPetsQuery,
    success: {
      status: 200,
      description: 'A page of animals.',
      schema: 'Pets',
      headers: ['NextPage'],
    },
    errors: ['invalid_parameter', 'invalid_cursor'],
    handle: async ({ caller: { accountId }, query }) => {
      const scope: CursorScope = { list: 'pets', accountId, filter: query.status ?? '' };
      const found = await catalogue.listPets(
        accountId,
        pageOf(cursors, scope, query),
        query.status,
      );
      const filter = query.status && `&status=${query.status}`;
      const page = presentPage(cursors, scope, query, found, `${baseUrl}/pets`, filter);
      return { status: 200, headers: page.headers, body: page.rows.map(presentPet) };
    },
  }),

  operation({
    id: 'createPet',
    method: 'POST',
    path: '/pets',
    tags: ['animals'],
    summary: 'Add an animal',
    description:
      'Stores an animal and returns it with its new id. Unknown fields are ignored. Send an ' +
      '`Idempotency-Key` to repeat the request safely: within 24 hours the same key and body give the first ' +
      'answer again and add nothing.',
    scope: 'pets:write',
    body: NewPet,
    idempotent: true,
    success: {
      status: 201,
      description: 'The animal that was added.',
      schema: 'Pet',
      headers: ['Location', 'Idempotent-Replayed'],
    },
    errors: [],
    handle: async ({ caller, body }) => {
      const pet = await catalogue.createPet(caller.accountId, body);
      const headers = { Location: `${baseUrl}/pets/${String(pet.id)}` };
      return { status: 201, headers, body: presentPet(pet) };
    },
  }),

  operation({
    id: petById,
    method: 'GET',
    path: '/pets/{petId}',
    tags: ['animals'],
    summary: 'Get one animal',
    description:
      'Deprecated; removed on 5 December 2030. Use `GET /pets` with a `status` filter instead.',
    scope: 'pets:read',
    parameters: { petId: 'Id of the animal to retrieve.' },
    success: { status: 200, description: 'The animal.', schema: 'Pet' },
    errors: ['pet_not_found', 'operation_removed'],
    deprecation: {
      since: petByIdDeprecatedSince,
      sunset: petByIdSunset,
      successor: '/pets',
    },
    handle: async ({ caller, parameters: { petId = '' } }) => {
      const pet = await catalogue.getPet(caller.accountId, petIdFrom(petId));
      return { status: 200, body: presentPet(pet) };
    },
  }),

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

/** @throws DomainError `pet_not_found` unless the text is an int64 in plain digits */
const petIdFrom = (text: string): bigint => {
  const id = readId(text);
  if (id === undefined) throw petNotFound(text.slice(0, 40));
  return id;
};
