interface Header {
  readonly description: string;
  /** Whether every answer that names the header has it. */
  readonly required: boolean;
  readonly schema: { readonly type: 'string' | 'integer' };
}

const text = { type: 'string' } as const;
const integer = { type: 'integer' } as const;

/** Every header that the reference speaks of. `Link` has two uses, so it has two names here. */
const described = {
  'X-Request-Id': {
    description: 'Identifies this request in our logs.',
    required: true,
    schema: text,
  },
  'X-RateLimit-Limit': {
    description: 'The limit in force: requests per minute or per day.',
    required: true,
    schema: integer,
  },
  'X-RateLimit-Remaining': {
    description: 'Requests remaining in the current window.',
    required: true,
    schema: integer,
  },
  'X-RateLimit-Reset': {
    description: 'When the window ends, in Unix seconds.',
    required: true,
    schema: integer,
  },
  'RateLimit-Policy': {
    description: 'All limits in force (draft-ietf-httpapi-ratelimit-headers-10).',
    required: true,
    schema: text,
  },
  RateLimit: {
    description:
      'The current window: `r` requests remaining, `t` seconds until it ends (same draft).',
    required: true,
    schema: text,
  },
  Location: { description: 'The address of the animal.', required: true, schema: text },
  'Idempotent-Replayed': {
    description: '`true` when this repeats the stored answer to an earlier request.',
    required: false,
    schema: text,
  },
  NextPage: {
    description: 'The next page, `rel="next"` (RFC 8288). Absent on the last page.',
    required: false,
    schema: text,
  },
  Deprecation: {
    description: 'Only on deprecated operations: since when, `@` and Unix seconds (RFC 9745).',
    required: false,
    schema: text,
  },
  Sunset: {
    description: 'Only on deprecated operations: when they are removed (RFC 8594).',
    required: false,
    schema: text,
  },
  Successor: {
    description: 'Only on deprecated operations: what to use instead, `rel="successor-version"`.',
    required: false,
    schema: text,
  },
  'Retry-After': {
    description: 'Seconds to wait before you try again.',
    required: true,
    schema: integer,
  },
  'WWW-Authenticate': { description: '`Bearer`.', required: true, schema: text },
} as const satisfies Readonly<Record<string, Header>>;

export type HeaderName = keyof typeof described;

export const headerComponents: Readonly<Record<HeaderName, Header>> = described;

const everywhere: readonly HeaderName[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];
const ofDeprecated: readonly HeaderName[] = ['Deprecation', 'Sunset', 'Successor'];

const byStatus: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  409: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Of an error: the same for all operations, since any of them may become deprecated. */
export const headersOfError = (status: number) =>
  refs([...everywhere, ...ofDeprecated, ...(byStatus[status] ?? [])]);

export const headersOfSuccess = (own: readonly HeaderName[], isDeprecated: boolean) =>
  refs([...own, ...everywhere, ...(isDeprecated ? ofDeprecated : [])]);

const refs = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [sentAs(name), { $ref: `#/components/headers/${name}` }]));

const sentAs = (name: HeaderName) => (name === 'NextPage' || name === 'Successor' ? 'Link' : name);
