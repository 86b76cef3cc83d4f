import { KyselyOrders, KyselyPets } from '../../adapters/kysely/kysely-catalogue.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { KyselyOutbox } from '../../adapters/kysely/kysely-outbox.ts';
import { catalogue } from '../../catalogue/catalogue.ts';
import { Orders, Pets } from '../../catalogue/ports.ts';
import { Clock } from '../../kernel/ports.ts';
import { CatalogueKey } from '../keys.ts';
import { wiring } from './wiring.ts';

export const catalogueModule = wiring((once, bind) => {
  once(KyselyPets, (c) => new KyselyPets(c.get(Database), c.get(KyselyOutbox)));
  bind(Pets).toService(KyselyPets);
  once(Orders, (c) => new KyselyOrders(c.get(Database), c.get(KyselyOutbox), c.get(KyselyPets)));
  once(CatalogueKey, (c) =>
    catalogue({ pets: c.get(Pets), orders: c.get(Orders), clock: c.get(Clock) }),
  );
});
