export interface Answer {
  readonly status: number;
  /** These headers replace the fixed ones of the same name, except `Vary`: its values are combined. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes are sent unchanged, by default as JSON. Other values become JSON. Undefined means no body. */
  readonly body: unknown;
}

export const jsonType = 'application/json; charset=utf-8';

export const contentOf = (body: unknown): string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);

/** Headers of every answer; cacheable answers override some. @param publicUrl where clients reach the service */
export const fixedHeaders = (publicUrl: string): Readonly<Record<string, string>> => ({
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  ...(publicUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
});
