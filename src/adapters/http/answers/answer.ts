/** An answer to a request. */
export interface Answer {
  readonly status: number;
  /** They replace those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes are sent as they are, by default as JSON; anything else becomes JSON; undefined is no body. */
  readonly body: unknown;
}

export const jsonType = 'application/json; charset=utf-8';

export const contentOf = (body: unknown): string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
