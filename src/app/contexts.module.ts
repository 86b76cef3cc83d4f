import { access } from '../access/access.ts';
import { Accounts, ApiKeys, KeyMaterial } from '../access/key-ports.ts';
import { MailRequests } from '../access/mail-ports.ts';
import { Passwords, People, Sessions, SignInLinks } from '../access/people-ports.ts';
import { HighUses, QuotaCounters } from '../access/quota-ports.ts';
import { UsageLog } from '../access/usage-ports.ts';
import { operationSunsets } from '../adapters/http/operations/catalogue-operations.ts';
import { catalogue } from '../catalogue/catalogue.ts';
import { Orders, Pets } from '../catalogue/ports.ts';
import { Acting } from '../kernel/acting.ts';
import { Clock } from '../kernel/clock.ts';
import { Deadline } from '../kernel/deadline.ts';
import { Ids } from '../kernel/ids.ts';
import { Sealer } from '../kernel/sealer.ts';
import { apart } from './request-deadline.ts';
import { AccessKey, CatalogueKey, NotificationsKey } from './keys.ts';
import { BridgedPersonalMails } from './personal-mails.ts';
import { wiring } from './wiring.ts';

/** The faces of the contexts that every process needs, each over its ports. */
export const contexts = wiring((once) => {
  once(CatalogueKey, (c) =>
    catalogue({ pets: c.get(Pets), orders: c.get(Orders), clock: c.get(Clock) }),
  );
  once(AccessKey, (c) => {
    const notifications = c.get(NotificationsKey);
    return access({
      accounts: c.get(Accounts),
      apiKeys: c.get(ApiKeys),
      keyMaterial: c.get(KeyMaterial),
      counters: c.get(QuotaCounters),
      highUses: c.get(HighUses),
      usage: c.get(UsageLog),
      people: c.get(People),
      sessions: c.get(Sessions),
      signInLinks: c.get(SignInLinks),
      mailRequests: c.get(MailRequests),
      personalMails: new BridgedPersonalMails((mail) => notifications.mailPerson(mail)),
      passwords: apart(c.get(Deadline), c.get(Passwords)),
      sealer: c.get(Sealer),
      acting: c.get(Acting),
      clock: c.get(Clock),
      ids: c.get(Ids),
      endings: [...operationSunsets].map(([operation, removedAt]) => ({ operation, removedAt })),
    });
  });
});
