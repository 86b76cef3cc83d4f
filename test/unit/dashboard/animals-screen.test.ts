import { expect, test } from '@jest/globals';
import { animalsScreen } from '../../../src/adapters/dashboard/animals/screen.ts';
import type { DashboardPorts } from '../../../src/adapters/dashboard/ports.ts';
import type { Visit } from '../../../src/adapters/dashboard/frame/screen.ts';

const now = new Date('2026-03-01T10:00:00Z');
const petOf = (id: bigint) => {
  return { id, name: `Rex the ${String(id)}th`, categoryId: 7n, status: 'sold' } as const;
};
const orderOf = (id: bigint) => {
  return { id, petId: id + 100n, quantity: 1, shipDate: now, status: 'placed' } as const;
};
const ids = Array.from({ length: 21 }, (_, index) => BigInt(21 - index));

test('the page shows 20 animals and 20 orders, and asks for all names of orders at once', async () => {
  const asked: unknown[] = [];
  const catalogue = {
    newestPets: () => Promise.resolve(ids.map(petOf)),
    newestOrders: () => Promise.resolve(ids.map(orderOf)),
    findPets: (...question: readonly [string, readonly bigint[]]) => {
      asked.push(question);
      // One of them cannot be found.
      return Promise.resolve(question[1].slice(1).map(petOf));
    },
  };
  const ports = { catalogue, ids: { next: () => 'form_1' } } as unknown as DashboardPorts;
  const visit = { accountId: 'acc_1', query: new URLSearchParams(), now } as Visit;
  const { content } = await animalsScreen(ports).show(visit);
  const text = String(content);
  expect(asked).toEqual([['acc_1', ids.map((id) => id + 100n)]]);
  expect(text.match(/<tr id="animal-/g)).toHaveLength(20);
  expect(text.match(/<tr id="order-/g)).toHaveLength(20);
  expect(text).toContain('<span>Rex the 120th <span class="mono quiet">#120</span></span>');
  expect(text).toContain('<span> <span class="mono quiet">#121</span></span>');
});
