import { describeStores } from '../../support/store-contracts.ts';
import { auditLogContract } from './audit-log.contract.ts';

describeStores('the audit log', auditLogContract);
