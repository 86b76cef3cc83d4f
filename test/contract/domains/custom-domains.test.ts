import { describeStores } from '../../support/store-contracts.ts';
import { customDomainsContract } from './custom-domains.contract.ts';
import { domainFingerprintContract } from './domain-fingerprint.contract.ts';
import { provenNamesContract } from './proven-names.contract.ts';
import { readyDomainsContract } from './ready-domains.contract.ts';

describeStores('custom domains', customDomainsContract);

describeStores('proven names', provenNamesContract);

describeStores('ready domains', readyDomainsContract);

describeStores('the fingerprint of domains', domainFingerprintContract);
