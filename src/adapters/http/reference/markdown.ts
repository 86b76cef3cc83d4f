import type { OpenApiDocument } from './openapi.ts';

type NamedSchema = OpenApiDocument['components']['schemas']['Pet'];
type Placed = ReturnType<typeof operationsIn>[number];
type Operation = Placed['operation'];

/** Writes the whole reference as Markdown from the OpenAPI document, for `/docs.md` and the page `/docs`. */
export const referenceMarkdown = (document: OpenApiDocument): string => {
  const { info, servers, components } = document;
  const operations = operationsIn(document);
  const parts = [
    `# ${info.title} API ${info.version}`,
    info.description,
    '## Base address',
    markdownTable(
      ['Environment', 'Address'],
      servers.map(({ description, url }) => [description, `\`${url}\``]),
    ),
    '## Authentication',
    `${components.securitySchemes.apiKey.description}. Every operation needs a key.`,
    '## Operations',
    operations.map(contentsLine).join('\n'),
    ...operations.flatMap((one) => operationPart(document, one)),
    '## Schemas',
    ...Object.entries(components.schemas).flatMap(schemaPart),
    '## Headers of answers',
    markdownTable(
      ['Header', 'On', 'Type', 'Description'],
      Object.entries(components.headers).map(([name, { required, schema, description }]) => [
        `\`${sentAs[name] ?? name}\``,
        required ? 'every answer that lists it' : 'some answers',
        schema.type,
        description,
      ]),
    ),
    '## Errors',
    ...Object.entries(components.examples).flatMap(([code, { summary, value }]) => [
      `### \`${code}\``,
      summary,
      fenced('json', JSON.stringify(value)),
    ]),
  ];
  return `${parts.join('\n\n')}\n`;
};

const contentsLine = ({ verb, path, operation: { summary, deprecated } }: Placed): string => {
  const name = `[${summary}](#${summary.toLowerCase().replaceAll(' ', '-')})`;
  return `- ${name}: \`${verb} ${path}\`${deprecated ? ', deprecated' : ''}`;
};

const sentAs: Readonly<Record<string, string>> = { NextPage: 'Link', Successor: 'Link' };

const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;

const operationPart = (document: OpenApiDocument, { verb, path, operation }: Placed) => {
  const { components, servers } = document;
  const parameters = operation.parameters.flatMap(
    ({ $ref }) => components.parameters[nameIn($ref)] ?? [],
  );
  const body = operation.requestBody?.content['application/json'];
  const answers = Object.entries(operation.responses).map(([status, listed]) => {
    const one = '$ref' in listed ? components.responses[nameIn(listed.$ref)] : listed;
    return [status, oneLine(one?.description ?? ''), headerNames(one?.headers ?? {})];
  });
  return [
    `### ${operation.summary}`,
    fenced('http', `${verb} ${path}`),
    ...notes(operation),
    operation.description,
    ...(parameters.length > 0 ? ['#### Parameters', parameterTable(parameters)] : []),
    ...(body ? ['#### Body', `A ${linkTo(body.schema.$ref)}, as \`application/json\`.`] : []),
    '#### Example',
    fenced('sh', shellCall(servers[0]?.url ?? '', { verb, path, body: body?.example })),
    ...exampleAnswer(operation),
    '#### Answers',
    markdownTable(['Status', 'Meaning', 'Headers'], answers),
  ];
};

const parameterTable = (
  parameters: readonly OpenApiDocument['components']['parameters'][string][],
) =>
  markdownTable(
    ['Name', 'In', 'Required', 'Type', 'Description'],
    parameters.map(({ name, in: place, required, schema, description = '' }) => [
      `\`${name}\``,
      place,
      required ? 'yes' : 'no',
      typeOf(schema),
      oneLine(description),
    ]),
  );

const notes = (operation: Operation & { readonly 'x-stability'?: unknown }) => {
  const { 'x-stability': stability } = operation;
  return typeof stability === 'string' ? [`**${stability}**: it may change without notice.`] : [];
};

const exampleAnswer = ({ responses }: Operation): readonly string[] =>
  Object.values(responses).flatMap((one) => {
    const example = 'content' in one ? one.content['application/json'].example : undefined;
    return example === undefined ? [] : [fenced('json', JSON.stringify(example, null, 2))];
  });

const headerNames = (headers: Readonly<Record<string, { readonly $ref: string }>>): string =>
  Object.entries(headers)
    .filter(([, { $ref }]) => !/ratelimit|request-id|deprecation|sunset|successor/i.test($ref))
    .map(([name]) => `\`${name}\``)
    .join(', ');

const schemaPart = ([name, schema]: readonly [string, NamedSchema]) => [
  `### ${name}`,
  schema.properties
    ? markdownTable(
        ['Field', 'Required', 'Type', 'Description'],
        Object.entries(schema.properties).map(([field, one]) => [
          `\`${field}\``,
          schema.required?.includes(field) ? 'yes' : 'no',
          ...(typeof one === 'object' ? [typeOf(one), oneLine(one.description ?? '')] : []),
        ]),
      )
    : `${typeOf(schema)}.`,
];

/** Lists every operation with its verb and path, in the document's order. */
export const operationsIn = ({ paths }: Pick<OpenApiDocument, 'paths'>) =>
  Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({
      path,
      verb: verb.toUpperCase(),
      operation,
    })),
  );

/** The subset of JSON Schema that the API's schemas use. */
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

/** Describes a schema in a few words of Markdown. A named schema becomes a link to its heading. */
const typeOf = (given: object): string => {
  const schema: Schema = given;
  if (schema.$ref !== undefined) return `${linkTo(schema.$ref)}${rules(schema)}`;
  if (schema.allOf) return typeOf(Object.assign({}, ...schema.allOf) as Schema);
  if (schema.enum) return schema.enum.map((one) => `\`${one}\``).join(', ');
  if (schema.items) return `array of ${typeOf(schema.items)}`;
  const format = schema.format === undefined ? '' : ` (${schema.format})`;
  return `${schema.type ?? 'any'}${format}${rules(schema)}`;
};

const nameIn = ($ref: string): string => $ref.split('/').at(-1) ?? '';

const linkTo = ($ref: string): string => `[${nameIn($ref)}](#${nameIn($ref).toLowerCase()})`;

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

const oneLine = (text: string): string => text.replaceAll('\n\n', ' ');

const markdownTable = (heading: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heading, heading.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');

interface ShellCall {
  readonly verb: string;
  readonly path: string;
  readonly body: unknown;
}

const shellCall = (base: string, { verb, path, body }: ShellCall): string =>
  [
    `curl -H "Authorization: Bearer $KEY"`,
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body)}'`]),
    ...(verb === 'GET' || body !== undefined ? [] : [`-X ${verb}`]),
    `"${base}${path.replaceAll(/\{\w+\}/g, '1')}"`,
  ].join(' \\\n  ');
