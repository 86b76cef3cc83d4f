/** What a client posted (RFC 8555, section 6.2); signatures are Pebble's business. */
export interface SignedBody {
  readonly bytes: Buffer;
  /** Undefined where nothing was posted, and for POST-as-GET. */
  readonly payload: unknown;
  /** URL of the account that signed. */
  readonly account: string | undefined;
}

const decoded = (text: string): unknown =>
  text === '' ? undefined : JSON.parse(Buffer.from(text, 'base64url').toString());

export const readSigned = (bytes: Buffer): SignedBody => {
  if (bytes.length === 0) return { bytes, payload: undefined, account: undefined };
  const jws = JSON.parse(bytes.toString()) as { protected: string; payload: string };
  const { kid } = decoded(jws.protected) as { kid?: string };
  return { bytes, payload: decoded(jws.payload), account: kid };
};
