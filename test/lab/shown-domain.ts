// What `animal-store domain … --json` prints, as far as tests look at it.

export interface ShownRecord {
  readonly purpose: 'route' | 'ownership' | 'delegation';
  readonly type: 'CNAME' | 'ALIAS' | 'TXT';
  readonly name: string;
  readonly fqdn: string;
  readonly value: string;
  readonly required: boolean;
}

interface ShownProblem {
  readonly code: string;
  readonly severity: string;
  readonly actor: string;
  readonly seen: string;
  readonly wanted: string;
  readonly fix: string;
}

export interface ShownDomain {
  readonly domain: {
    readonly id: string;
    readonly host: string;
    readonly unicodeHost: string;
    readonly state: string;
    readonly verifiedAt?: string;
    readonly reason?: string;
    readonly token: string;
    readonly dns: {
      readonly report?: {
        readonly validation?: { readonly delegated: boolean; readonly method: string };
      };
    };
    readonly certificate: {
      readonly status: string;
      readonly issuedBy?: string;
      readonly nextAttemptAt?: string;
      readonly attempts?: { readonly lastAt: string };
      readonly notAfter?: string;
      readonly problem?: ShownProblem;
    };
  };
  readonly records: readonly [
    route: ShownRecord,
    ownership: ShownRecord,
    ...delegation: ShownRecord[],
  ];
  readonly problems: readonly ShownProblem[];
  readonly budget: { readonly used: number; readonly of: number };
  readonly nextAt: string | null;
  readonly timeline: readonly { readonly kind: string; readonly occurredAt: string }[];
}
