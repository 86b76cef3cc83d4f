import type { ResolutionContext } from 'inversify';
import { AuditLog, IdempotencyKeys } from '../../access/ports.ts';
import { dashboard, type Dashboard } from '../../adapters/dashboard/dashboard.ts';
import { StoredSignal } from '../../kernel/signals.ts';
import { addressBucket, clientAddress } from '../../adapters/http/listener/client-address.ts';
import { operationSunsets } from '../../adapters/http/operations/catalogue-operations.ts';
import { Uploads } from '../../adapters/uploads/uploads.ts';
import { Acting, Clock, Deadline, Ids } from '../../kernel/ports.ts';
import { readDomainSettings, writeDomainSettings } from '../domain-settings/text.ts';
import {
  AccessKey,
  CatalogueKey,
  ConfigKey,
  DashboardKey,
  DomainsKey,
  LogKey,
  MetricsKey,
  NotificationsKey,
  SitesKey,
  WebhookCallsKey,
} from '../keys.ts';
import { dashboardOrigin, SiteAddresses } from '../settings/addresses.ts';
import { wiring } from './wiring.ts';

export const pages = wiring((once) => {
  once(DashboardKey, dashboardOf);
});

const dashboardOf = (c: ResolutionContext): Dashboard => {
  const config = c.get(ConfigKey);
  const signal = c.get(StoredSignal);
  const metrics = c.get(MetricsKey);
  const addresses = c.get(SiteAddresses);
  return dashboard({
    access: c.get(AccessKey),
    catalogue: c.get(CatalogueKey),
    sites: c.get(SitesKey),
    domains: c.get(DomainsKey),
    uploads: c.get(Uploads),
    notifications: c.get(NotificationsKey),
    webhooks: c.get(WebhookCallsKey),
    auditLog: c.get(AuditLog),
    idempotencyKeys: c.get(IdempotencyKeys),
    acting: c.get(Acting),
    clock: c.get(Clock),
    deadline: c.get(Deadline),
    ids: c.get(Ids),
    log: c.get(LogKey),
    onAnswered: (status, seconds) => {
      metrics.observe('dashboard', status, seconds);
    },
    onStored: (listener) => signal.listen(listener),
    domainSettings: { read: readDomainSettings, write: writeDomainSettings },
    networkOf: ({ peer, forwardedFor }) =>
      addressBucket(clientAddress(peer, forwardedFor, config.trustProxy)),
    settings: {
      origin: dashboardOrigin(config),
      platformHost: config.platformHost,
      acmeDnsZone: config.acmeDnsZone,
      siteUrl: (slug) => addresses.urlOf(slug),
      previewUrl: (slug, number) => addresses.previewOf(slug, number),
      deprecated: operationSunsets,
      apiUrl: config.publicUrl,
      knowsCounts: config.roles.includes('api') || config.redisUrl !== undefined,
    },
  });
};
