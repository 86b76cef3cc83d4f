/** Imported only when needed. Only mysql2 and what verifies passkeys are imported later elsewhere. */
export const onDemand = {
  serve: () => import('./serve.ts'),
  supervise: () => import('./processes/supervisor.ts'),
  container: () => import('./container.ts'),
  maintenance: () => import('./maintenance.ts'),
  doctor: () => import('./doctor/examine.ts'),
  /** With ROLES, which commands do not have. */
  inbound: () => import('./wiring/inbound.ts'),
  redis: () => import('./wiring/redis.ts'),
  objectStore: () => import('../adapters/storage/s3/s3-store.ts'),
  mail: () => import('../adapters/mail/smtp-postman.ts'),
  traces: () => import('../adapters/tracing/open-tracer.ts'),
} as const;
