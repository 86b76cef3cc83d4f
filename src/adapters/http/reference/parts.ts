import type { OpenApiDocument } from './openapi.ts';

/** Every operation with its verb and path, as the document lists them. */
export const operationsIn = ({ paths }: Pick<OpenApiDocument, 'paths'>) =>
  Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({
      path,
      verb: verb.toUpperCase(),
      operation,
    })),
  );

/** JSON Schema, as far as the API's own schemas go. */
interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly $ref?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly default?: string | number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** A schema in a few words of Markdown; a named one as a link to its heading. */
export const typeOf = (given: object): string => {
  const schema: Schema = given;
  if (schema.$ref !== undefined) return `${linkTo(schema.$ref)}${rules(schema)}`;
  if (schema.allOf) return typeOf(Object.assign({}, ...schema.allOf) as Schema);
  if (schema.enum) return schema.enum.map((one) => `\`${one}\``).join(', ');
  if (schema.items) return `array of ${typeOf(schema.items)}`;
  const format = schema.format === undefined ? '' : ` (${schema.format})`;
  return `${schema.type ?? 'any'}${format}${rules(schema)}`;
};

export const nameIn = ($ref: string): string => $ref.split('/').at(-1) ?? '';

export const linkTo = ($ref: string): string => `[${nameIn($ref)}](#${nameIn($ref).toLowerCase()})`;

const rules = (schema: Schema): string => {
  const { minimum, maximum, minLength, maxLength, default: byDefault } = schema;
  return [
    ...(minimum !== undefined && maximum === undefined ? [`from ${String(minimum)}`] : []),
    ...(maximum === undefined ? [] : [`${String(minimum)} to ${String(maximum)}`]),
    ...(maxLength === undefined ? [] : [`${String(minLength)} to ${String(maxLength)} characters`]),
    ...(byDefault === undefined ? [] : [`default \`${String(byDefault)}\``]),
  ]
    .map((one) => `, ${one}`)
    .join('');
};

export const oneLine = (text: string): string => text.replaceAll('\n\n', ' ');

export const markdownTable = (
  heading: readonly string[],
  rows: readonly (readonly string[])[],
): string =>
  [heading, heading.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');

interface ShellCall {
  /** In capitals. */
  readonly verb: string;
  readonly path: string;
  /** Sent as JSON. */
  readonly body: unknown;
}

export const shellCall = (base: string, { verb, path, body }: ShellCall): string =>
  [
    `curl -H "Authorization: Bearer $KEY"`,
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body)}'`]),
    ...(verb === 'GET' || body !== undefined ? [] : [`-X ${verb}`]),
    `"${base}${path.replaceAll(/\{\w+\}/g, '1')}"`,
  ].join(' \\\n  ');
