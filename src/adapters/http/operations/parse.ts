import * as v from 'valibot';
import { RequestError, type ErrorCode } from '../answers/error-table.ts';

/** Checks a value against a schema. @throws RequestError whose message names each wrong field */
export const parse = <Output>(
  schema: v.GenericSchema<unknown, Output>,
  value: unknown,
  code: ErrorCode,
): Output => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RequestError(
      code,
      'The body must be a JSON object, like {"name":"Rex","categoryId":7}.',
    );
  }
  const result = v.safeParse(schema, value, { abortPipeEarly: true });
  if (result.success) return result.output;
  const problems = result.issues.map(
    (issue) => `${v.getDotPath(issue) ?? 'The body'} ${issue.message}`,
  );
  throw new RequestError(code, `${[...new Set(problems)].join('; ')}.`);
};

/** A query string as one value per name. @throws RequestError `invalid_parameter` when a name is repeated */
export const queryRecord = (querystring: string): Readonly<Record<string, string>> => {
  const record: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(querystring)) {
    if (name in record) {
      throw new RequestError('invalid_parameter', `${name.slice(0, 40)} must be given once.`);
    }
    record[name] = value;
  }
  return record;
};
