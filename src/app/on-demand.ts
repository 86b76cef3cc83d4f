/** These modules are imported only when needed. Elsewhere, only mysql2 and the passkey verifier are imported late. */
export const onDemand = {
  serve: () => import('./serve.ts'),
  supervise: () => import('./processes/supervisor.ts'),
  container: () => import('./container.ts'),
  maintenance: () => import('./maintenance.ts'),
  doctor: () => import('./doctor/examine.ts'),
  /** Only processes with ROLES need this; commands do not. */
  inbound: () => import('./wiring/inbound.ts'),
  redis: () => import('./wiring/redis.ts'),
  objectStore: () => import('../adapters/storage/s3/s3-store.ts'),
  mail: () => import('../adapters/mail/smtp-postman.ts'),
  traces: () => import('../adapters/tracing/open-tracer.ts'),
} as const;
