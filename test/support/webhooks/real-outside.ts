import { GuardedOutside } from '../../../src/adapters/webhooks/guarded-outside.ts';
import type { Outside } from '../../../src/notifications/webhook-ports.ts';
import { neverMs } from '../until.ts';

/** May call this machine, and resolves no names. */
export const realOutside = (withinMs = neverMs): Outside =>
  new GuardedOutside({
    dnsServers: ['127.0.0.1:9'],
    ownAddresses: [],
    withinMs,
    rules: { allowsThisMachine: true },
  });
