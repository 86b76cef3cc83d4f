import type { Context } from 'koa';
import { knownDeviceMs, mailedLinkMs, sessionMs } from '../../../access/domain/session.ts';

/**
 * A secret in the browser: no script reads it, other sites' forms do not bring it, and over HTTPS the name itself binds
 * it to this host (RFC 6265bis, section 4.1.3.2).
 */
class ProtectedCookie {
  readonly #name: string;
  readonly #lastsMs: number;
  readonly #attributes: string;

  /** @param isSecure whether browsers reach the dashboard over HTTPS */
  constructor(name: string, lastsMs: number, isSecure: boolean) {
    this.#name = isSecure ? `__Host-${name}` : name;
    this.#lastsMs = lastsMs;
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  read(ctx: Context): string | undefined {
    return ctx.cookies.get(this.#name);
  }

  write(ctx: Context, secret: string): void {
    this.#set(ctx, secret, Math.floor(this.#lastsMs / 1000));
  }

  clear(ctx: Context): void {
    this.#set(ctx, '', 0);
  }

  /** Not through Koa, which refuses Secure on the plain connection that a proxy makes. */
  #set(ctx: Context, secret: string, seconds: number): void {
    ctx.append('Set-Cookie', `${this.#name}=${secret}; Max-Age=${seconds}; ${this.#attributes}`);
  }
}

export interface Cookies {
  readonly session: ProtectedCookie;
  /** Identifies a browser with an earlier sign-in; grants no access. */
  readonly device: ProtectedCookie;
  /** The page to return to, percent-encoded, of a browser that waits for a link by mail. */
  readonly next: ProtectedCookie;
}

/** @param isSecure whether browsers reach the dashboard over HTTPS */
export const cookiesOf = (isSecure: boolean): Cookies => ({
  session: new ProtectedCookie('session', sessionMs, isSecure),
  device: new ProtectedCookie('device', knownDeviceMs, isSecure),
  next: new ProtectedCookie('next', mailedLinkMs, isSecure),
});
