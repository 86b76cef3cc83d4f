/**
 * What is imported only where a command or a setting asks for it; everything else is imported at the start. Two adapters
 * import their driver as late: mysql2, and the SDK for object stores.
 */
export const onDemand = {
  // Commands.
  serve: () => import('./serve.ts'),
  supervise: () => import('./processes/supervisor.ts'),
  container: () => import('./container.ts'),
  maintenance: () => import('./maintenance.ts'),
  elsewhere: () => import('./commands/deploy-elsewhere.ts'),
  doctor: () => import('./doctor/examine.ts'),
  /** ROLES, which a command does not have. */
  inbound: () => import('./wiring/inbound.ts'),
  /** REDIS_URL */
  redis: () => import('./wiring/redis.ts'),
  /** SMTP_URL */
  mail: () => import('../adapters/mail/smtp-postman.ts'),
  /** OTEL_EXPORTER_OTLP_ENDPOINT */
  traces: () => import('../adapters/tracing/open-tracer.ts'),
} as const;
