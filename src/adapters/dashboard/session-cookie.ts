import type { Context } from 'koa';
import { sessionMs } from '../../access/domain/session.ts';

/**
 * The secret of a session in the browser: no script reads it, other sites' forms do not bring it, and over HTTPS the
 * name itself binds it to this host (RFC 6265bis, section 4.1.3.2).
 */
export class SessionCookie {
  readonly #name: string;
  readonly #attributes: string;

  /** @param isSecure whether browsers reach the dashboard over HTTPS */
  constructor(isSecure: boolean) {
    this.#name = isSecure ? '__Host-session' : 'session';
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  read(ctx: Context): string | undefined {
    return ctx.cookies.get(this.#name);
  }

  write(ctx: Context, secret: string): void {
    this.#set(ctx, secret, Math.floor(sessionMs / 1000));
  }

  clear(ctx: Context): void {
    this.#set(ctx, '', 0);
  }

  /** Not through Koa, which refuses Secure on the plain connection that a proxy makes. */
  #set(ctx: Context, secret: string, seconds: number): void {
    ctx.append('Set-Cookie', `${this.#name}=${secret}; Max-Age=${seconds}; ${this.#attributes}`);
  }
}
