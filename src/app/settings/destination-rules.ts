import type { DestinationRules } from '../../notifications/domain/destination.ts';
import type { Config } from './config.ts';

/** What webhooks may call. In production never this machine, whatever else is allowed for tests. */
export const destinationRules = ({
  production,
  allowTestDomains,
}: Pick<Config, 'production' | 'allowTestDomains'>): DestinationRules => ({
  allowsThisMachine: allowTestDomains && !production,
});
