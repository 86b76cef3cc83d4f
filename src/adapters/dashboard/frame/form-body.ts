import type { Context } from 'koa';
import readBytes from 'raw-body';
import * as v from 'valibot';
import { PageProblem } from './page-problem.ts';

/** A configuration of 16 KiB, with every byte percent-encoded, and room for the other fields. */
const largest = 64 * 1024;

/** Reads a form that a browser sent. @throws PageProblem */
export const readForm = async (ctx: Context): Promise<Readonly<Record<string, string>>> => {
  if (!ctx.is('application/x-www-form-urlencoded') || ctx.get('Content-Encoding') !== '') {
    throw new PageProblem(415, 'This form has to be sent by a browser.');
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(await readText(ctx))) {
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(fields);
};

const readText = async (ctx: Context): Promise<string> => {
  try {
    const { length } = ctx.request;
    return (await readBytes(ctx.req, { length, limit: largest })).toString();
  } catch (error) {
    // Discards the rest, so that the sender gets the answer and the connection is free again.
    ctx.req.resume();
    throw (error as { type?: string }).type === 'entity.too.large'
      ? new PageProblem(413, 'The form is too long. It can hold 64 KiB.')
      : new PageProblem(400, 'The form was cut off. Send it again.');
  }
};

/** A text that must not be empty, without the spaces around it. @param refusal what to say if it is */
export const filled = (refusal: string) => v.pipe(v.string(), v.trim(), v.minLength(1, refusal));

/** @returns what the form says, or which field is wrong and why */
export const checkForm = <
  Schema extends v.GenericSchema<Record<string, string | undefined>, unknown>,
>(
  schema: Schema,
  values: Readonly<Record<string, string>>,
):
  | { readonly kind: 'accepted'; readonly output: v.InferOutput<Schema> }
  | { readonly kind: 'refused'; readonly field: string | undefined; readonly message: string } => {
  const result = v.safeParse(schema, values);
  if (result.success) return { kind: 'accepted', output: result.output };
  const [issue] = result.issues;
  const field = v.getDotPath(issue) ?? undefined;
  const isMissing = field !== undefined && values[field] === undefined;
  return { kind: 'refused', field, message: isMissing ? 'This field is missing.' : issue.message };
};
