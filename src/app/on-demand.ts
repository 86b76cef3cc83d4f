/** Imported only when needed; everything else at the start, except mysql2, the SDK of object stores, and what verifies passkeys. */
export const onDemand = {
  serve: () => import('./serve.ts'),
  supervise: () => import('./processes/supervisor.ts'),
  container: () => import('./container.ts'),
  maintenance: () => import('./maintenance.ts'),
  doctor: () => import('./doctor/examine.ts'),
  /** With ROLES, which commands do not have. */
  inbound: () => import('./wiring/inbound.ts'),
  redis: () => import('./wiring/redis.ts'),
  mail: () => import('../adapters/mail/smtp-postman.ts'),
  traces: () => import('../adapters/tracing/open-tracer.ts'),
} as const;
