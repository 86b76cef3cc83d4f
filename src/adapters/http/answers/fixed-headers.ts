/**
 * Headers of every answer: no type sniffing, no caching (cacheable answers override it), and HSTS if the service uses
 * HTTPS.
 * @param publicUrl where clients reach the service
 */
export const fixedHeaders = (publicUrl: string): Readonly<Record<string, string>> => ({
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  ...(publicUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
});
