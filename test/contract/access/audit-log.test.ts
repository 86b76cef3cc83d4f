import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { auditLogContract } from './audit-log.contract.ts';

describe.each(storeKinds)('the audit log in %s', (kind) => {
  auditLogContract(() => openStores(kind));
});
