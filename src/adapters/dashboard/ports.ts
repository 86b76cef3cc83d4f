import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { Access } from '../../access/access.ts';
import type { AuditLog, IdempotencyKeys } from '../../access/ports.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { DomainSettingsDraft } from '../../domains/domain/redirects/redirects.ts';
import type { DomainSettingsDocument } from '../../domains/domain/redirects/settings.ts';
import type { Domains } from '../../domains/domains.ts';
import type { Acting, Clock, Deadline, Ids } from '../../kernel/ports.ts';
import type { Notifications, WebhookCalls } from '../../notifications/notifications.ts';
import type { Project } from '../../sites/domain/project.ts';
import type { Deploy } from '../../sites/domain/site.ts';
import type { UploadProgress } from '../../sites/ports.ts';
import type { Sites } from '../../sites/sites.ts';
import type { BegunDeploy } from '../../sites/use-cases/deploy-site.ts';

export interface DashboardPorts {
  readonly access: Access;
  readonly catalogue: Catalogue;
  readonly sites: Sites;
  readonly domains: Domains;
  readonly uploads: {
    readonly field: string;
    /**
     * Deploys the archive of a form.
     * @param begin called before any change, with the other fields and the hash of the archive
     * @returns undefined if `begin` began nothing
     * @throws DomainError with an `UploadRefusal`; nothing is kept
     */
    takeForm(
      project: Project,
      request: Context['req'],
      begin: (received: {
        readonly fields: ReadonlyMap<string, string>;
        readonly hash: string;
      }) => Promise<BegunDeploy | undefined>,
    ): Promise<Deploy | undefined>;
    /** Receives a small file into memory. @throws DomainError with an `UploadRefusal` */
    readForm(
      accountId: string,
      request: Context['req'],
      wanted: { readonly field: string; readonly largest: number; readonly missing: string },
    ): Promise<{ readonly fields: ReadonlyMap<string, string>; readonly file: Buffer }>;
    /** Reads part of a refused upload, so that its sender gets the answer. */
    discard(request: Context['req']): void;
    /** Progress of the project's last upload, if this process is unpacking one. */
    progressOf(project: Project): UploadProgress | undefined;
  };
  readonly notifications: Notifications;
  readonly webhooks: WebhookCalls;
  readonly auditLog: AuditLog;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly acting: Acting;
  readonly clock: Clock;
  readonly deadline: Deadline;
  readonly ids: Ids;
  readonly log: Logger;
  readonly onAnswered: (status: number, seconds: number) => void;
  /**
   * Calls the listener whenever this process has stored something, with the accounts concerned.
   * @returns a function that removes the listener
   */
  readonly onStored: (listener: (accountIds: readonly string[]) => void) => () => void;
  readonly domainSettings: {
    /** @throws DomainError `redirect_invalid` that locates the fault */
    readonly read: (text: string) => DomainSettingsDraft;
    readonly write: (document: DomainSettingsDocument, format: 'yaml' | 'json') => string;
  };
  /** Returns the client's address or network, which shares one limit of sign-in attempts. */
  readonly networkOf: (request: {
    readonly peer: string;
    readonly forwardedFor: string | undefined;
  }) => string;
  readonly settings: DashboardSettings;
}

export interface DashboardSettings {
  readonly origin: string;
  readonly platformHost: string;
  readonly acmeDnsZone: string | undefined;
  readonly siteUrl: (slug: string) => string;
  /** Returns the address of one deploy; undefined if deploys have no addresses of their own. */
  readonly previewUrl: (slug: string, number: number) => Promise<string | undefined>;
  /** API operations that will be removed, and the day for each, by id. */
  readonly deprecated: ReadonlyMap<string, Date>;
  readonly apiUrl: string;
  /** Whether this process knows the current request counts, because it counts alone or the counters are shared. */
  readonly knowsCounts: boolean;
}
