/**
 * What src loads only when it needs it. Loading takes real time, in which virtual time would go on, so all of it is loaded
 * before a simulation begins.
 */
export const loadAll = async (): Promise<void> => {
  await Promise.all([
    import('../../src/app/web.module.ts'),
    import('../../src/app/dashboard.module.ts'),
    import('../../src/app/edge.module.ts'),
    import('../../src/app/nameserver.module.ts'),
    import('../../src/app/sites.module.ts'),
    import('../../src/app/publishing.module.ts'),
    import('../../src/app/authorities.module.ts'),
    import('../../src/app/events.module.ts'),
    import('../../src/app/webhooks.module.ts'),
    import('../../src/app/site-files.module.ts'),
    import('../../src/app/domain-settings/text.ts'),
    import('../../src/adapters/dashboard/frame/paths.ts'),
    import('../../src/adapters/mail/smtp-postman.ts'),
    import('../../src/adapters/mail/smtp-server.ts'),
  ]);
};
