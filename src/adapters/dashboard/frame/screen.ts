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

/** A form that was not accepted: what was typed stays, and the message stands beside the field. */
export interface Refusal {
  readonly form: string;
  readonly field: string | undefined;
  /** Undefined if nothing is wrong: the form comes back because it was not sent. */
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

/** The answer to a form: a redirect to a page that may say what was done, or a page that is shown only once. */
export type Outcome = { readonly to: string; readonly done?: string } | Shown | Page;

/** Fields are texts; where several have one name, they are joined by commas. */
type FormSchema = GenericSchema<Record<string, string | undefined>, unknown>;

interface FormOf<Schema extends FormSchema, Values> {
  readonly name: string;
  /** Of @koa/router, like `/dashboard/keys/:id/revoke`; the parameters of the screen have the same names. */
  readonly path: string;
  readonly schema: Schema;
  readonly operation: Operation;
  /** Whether somebody has to prove who they are again, although the operation does not ask for it. */
  readonly again?: (signedIn: SignedIn) => boolean;
  readonly field?: string;
  /**
   * Sending it twice acts once: for forms that create something. Needs `onceField` in the form. `act` then runs in a
   * transaction, which may run again; `admit` runs before it, and counts what has a limit outside the database.
   */
  readonly once?: true | { readonly admit: (visit: Visit) => Promise<void> };
  readonly secrets?: readonly string[];
  readonly act: (visit: Visit, values: Values) => Promise<Outcome>;
}

export type Form = FormOf<FormSchema, never>;

export const form = <Schema extends FormSchema>(of: FormOf<Schema, InferOutput<Schema>>): Form =>
  of;

export const bareForm = (
  of: Omit<Form, 'schema' | 'act'> & { readonly act: (visit: Visit) => Promise<Outcome> },
): Form => ({ ...of, schema: object({}) });

export interface Screen {
  readonly path: string;
  readonly section: Section;
  readonly help?: HelpPage;
  readonly show: (visit: Visit, refusal?: Refusal, secret?: Html) => Promise<Page>;
  readonly forms?: readonly Form[];
  readonly notices?: Readonly<Record<string, Html | string>>;
  /**
   * Whether it updates live, and how we find out that another process has changed it: by rendering it every two seconds,
   * or by a text that differs whenever something stored that it shows has changed, which costs less. One rendering is
   * sent to all viewers of one role, so it must show nothing that only one person may see. `bell`: only that is updated,
   * for all pages that are not live.
   */
  readonly live: false | 'bell' | 'rendered' | ((visit: Visit) => Promise<string>);
  /** People who have to set up a second factor first see only such screens. */
  readonly isForSetUp?: true;
  /** Whether people of a deleted account see it. All other pages lead to the one that restores it. */
  readonly isForDeleted?: true;
  readonly uploads?: readonly Upload[];
  readonly others?: readonly Other[];
}

/** A form that brings a file. Why a file is refused shows beside its field, as in a form named `upload`. */
export interface Upload {
  readonly path: string;
  /** See `Form`. */
  readonly operation: Operation;
  /** The name of the file. */
  readonly field: string;
  /** @param admit asks again whether the sender may, since a file takes its time; call it before anything changes */
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

/** @returns the refusal, if it belongs to that form and, where there are many, to that one */
export const refusalOf = (
  refusal: Refusal | undefined,
  name: string,
  parameters: Readonly<Record<string, string>> = {},
): Refusal | undefined =>
  refusal?.form === name &&
  Object.entries(parameters).every(([key, value]) => refusal.parameters[key] === value)
    ? refusal
    : undefined;
