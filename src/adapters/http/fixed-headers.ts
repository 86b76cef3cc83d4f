/**
 * On every answer: nothing guesses its type, nobody keeps it (what may be kept says so itself), and browsers come over
 * HTTPS once the service is there.
 * @param publicUrl where clients reach the service
 */
export const fixedHeaders = (publicUrl: string): Readonly<Record<string, string>> => ({
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  ...(publicUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
});
