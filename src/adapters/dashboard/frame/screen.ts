import type { Context } from 'koa';
import { object, type GenericSchema, type InferOutput } from 'valibot';
import type { Operation } from '../../../access/domain/role.ts';
import type { SignedIn } from '../../../access/people-ports.ts';
import type { Html } from './html.ts';
import type { HelpPage } from './paths.ts';

export type Section =
  | 'projects'
  | 'animals'
  | 'orders'
  | 'keys'
  | 'webhooks'
  | 'usage'
  | 'account'
  | 'notices'
  | 'search'
  | 'help';

export interface Visit {
  readonly signedIn: SignedIn;
  readonly accountId: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly may: (operation: Operation) => boolean;
  readonly now: Date;
}

export interface Page {
  readonly title: string;
  readonly content: Html;
  readonly status?: number;
}

/** A refused form. The page shows the typed values, and the message beside the field. */
export interface Refusal {
  readonly form: string;
  readonly field: string | undefined;
  /** Undefined if nothing is wrong, and the form is only shown again because it was not sent. */
  readonly message: string | undefined;
  readonly values: Readonly<Record<string, string>>;
  readonly isByPlan?: boolean;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface Shown {
  readonly title: string;
  readonly status: number;
  readonly secret: Html;
}

/** Answers a form with a redirect to a page that may show a notice, or with a page that is shown only once. */
export type Outcome = { readonly to: string; readonly done?: string } | Shown | Page;

/** All fields are texts. Values of fields with the same name are joined by commas. */
type FormSchema = GenericSchema<Record<string, string | undefined>, unknown>;

interface Described<Schema extends FormSchema> {
  readonly name: string;
  /** A pattern of @koa/router, such as `/dashboard/keys/:id/revoke`. The screen's parameters have the same names. */
  readonly path: string;
  readonly schema: Schema;
  readonly operation: Operation;
  /** Whether people must confirm who they are, even if the operation does not require it. */
  readonly again?: (signedIn: SignedIn) => boolean;
  readonly field?: string;
  /**
   * Makes a form that creates or deletes something act once, even if it is sent twice. Needs `onceField` in the form.
   * `act` then runs in a transaction, which may be repeated. `admit` runs before it, and counts against limits outside
   * the database.
   */
  readonly once?: true | { readonly admit: (visit: Visit) => Promise<void> };
  readonly secrets?: readonly string[];
}

/** Only a form that says so may answer with a secret. It does nothing if its page was left, and nobody sees the answer. */
type Acting<Values> =
  | {
      readonly showsSecret?: never;
      readonly act: (visit: Visit, values: Values) => Promise<Exclude<Outcome, Shown>>;
    }
  | {
      readonly showsSecret: true;
      readonly act: (visit: Visit, values: Values) => Promise<Outcome>;
    };

type FormOf<Schema extends FormSchema, Values> = Described<Schema> & Acting<Values>;

export type Form = FormOf<FormSchema, never>;

export const form = <Schema extends FormSchema>(of: FormOf<Schema, InferOutput<Schema>>): Form =>
  of;

export const bareForm = (of: Omit<Described<FormSchema>, 'schema'> & Acting<never>): Form => ({
  ...of,
  schema: object({}),
});

export interface Screen {
  readonly path: string;
  readonly section: Section;
  readonly help?: HelpPage;
  readonly show: (visit: Visit, refusal?: Refusal, secret?: Html) => Promise<Page>;
  readonly forms?: readonly Form[];
  readonly notices?: Readonly<Record<string, Html | string>>;
  /**
   * Whether the page updates live: after each event of the account, and `often` or `seldom` for changes without an event.
   * All viewers of one role get the same rendering, so the page must not show anything private to one person. `bell`
   * updates only the bell, for all pages that are not live.
   */
  readonly live: false | 'bell' | 'often' | 'seldom';
  /** People who must set up a second factor can only see these screens. */
  readonly isForSetUp?: true;
  /** Whether people of a deleted account can see the screen. Other pages redirect to the one that restores the account. */
  readonly isForDeleted?: true;
  readonly uploads?: readonly Upload[];
  readonly others?: readonly Other[];
}

/** A form with a file. A refusal appears beside its field, as in a form named `upload`. */
export interface Upload {
  readonly path: string;
  readonly operation: Operation;
  readonly field: string;
  /** @param admit checks the permission again, because uploads take time; call it before any change */
  readonly act: (
    visit: Visit,
    request: Context['req'],
    admit: () => Promise<void>,
  ) => Promise<Outcome>;
}

type Other = {
  readonly path: string;
  readonly answer: (visit: Visit, ctx: Context) => Promise<Outcome | undefined>;
} & (
  | { readonly method: 'GET' }
  | {
      readonly method: 'POST';
      readonly operation: Operation;
    }
);

export const pathOf = (
  { path }: Pick<Screen, 'path'>,
  { parameters }: Pick<Visit, 'parameters'>,
): string =>
  path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''));

/** @returns the refusal if it is for this form and, if there are several, for these parameters */
export const refusalOf = (
  refusal: Refusal | undefined,
  name: string,
  parameters: Readonly<Record<string, string>> = {},
): Refusal | undefined =>
  refusal?.form === name &&
  Object.entries(parameters).every(([key, value]) => refusal.parameters[key] === value)
    ? refusal
    : undefined;
