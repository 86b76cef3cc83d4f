import * as v from 'valibot';
import { RequestError, type ErrorCode } from '../error-table.ts';

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

const mostRemembered = 500;
const longestRemembered = 200;

/**
 * Reads query strings with a schema, and remembers what it read: clients send the same few again and again.
 * @throws RequestError `invalid_parameter`
 */
export const queryReader = <Output>(
  schema: v.GenericSchema<unknown, Output>,
): ((query: string) => Output) => {
  const known = new Map<string, Output>();
  return (query) => {
    const before = known.get(query);
    if (before !== undefined) return before;
    const read = parse(schema, queryRecord(query), 'invalid_parameter');
    if (query.length > longestRemembered) return read;
    if (known.size >= mostRemembered) known.clear();
    known.set(copyOf(query), read);
    return read;
  };
};

/** A part of a text keeps all of it in memory, here an address of up to 15 KB. */
const copyOf = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** A query string as one value per name. @throws RequestError `invalid_parameter` when a name is repeated */
const queryRecord = (query: string): Readonly<Record<string, string>> => {
  const record: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(query)) {
    if (name in record) {
      throw new RequestError('invalid_parameter', `${name.slice(0, 40)} must be given once.`);
    }
    record[name] = value;
  }
  return record;
};
