/** Who wants to issue, and how. */
export interface CaaPolicy {
  /** What a record has to name, one of them; none: CAA does not matter to the authority. */
  readonly issuers: readonly string[];
  /** The account as `accounturi` names it; undefined until there is one. */
  readonly accountUri: string | undefined;
  readonly method: 'http-01';
}

/** The value of an `issue` property (RFC 8659, section 4.2). */
export interface IssueValue {
  /** '' allows nobody. */
  readonly issuer: string;
  readonly parameters: readonly (readonly [tag: string, value: string])[];
}

const domainName = /^[a-z0-9](-*[a-z0-9])*(\.[a-z0-9](-*[a-z0-9])*)*$/i;
/** Tag "=" value, with blanks around both. */
const parameter = /^[ \t]*([a-z0-9](?:-*[a-z0-9])*)[ \t]*=[ \t]*([\x21-\x3a\x3c-\x7e]*)[ \t]*$/i;
const blanks = /^[ \t]*|[ \t]*$/g;

/** @returns undefined for what is malformed: it allows nothing */
export const parseIssueValue = (value: string): IssueValue | undefined => {
  const [name = '', ...rest] = value.split(';');
  const issuer = name.replace(blanks, '');
  if (issuer !== '' && !domainName.test(issuer)) return undefined;
  // One semicolon with nothing behind it is the form that forbids everybody.
  if (rest.length === 1 && rest[0]?.replace(blanks, '') === '') return { issuer, parameters: [] };
  const parameters = rest.map((text) => parameter.exec(text));
  if (!parameters.every((one) => one !== null)) return undefined;
  return { issuer, parameters: parameters.map(([, tag = '', text = '']) => [tag, text]) };
};

/** @returns why the record does not allow it, or undefined when it does */
export const isAllowedBy = (
  { issuer, parameters }: IssueValue,
  { issuers, accountUri, method }: CaaPolicy,
): 'other_authority' | 'other_account' | 'other_method' | undefined => {
  if (!issuers.includes(issuer)) return 'other_authority';
  const valuesOf = (tag: string) =>
    parameters.filter(([name]) => name.toLowerCase() === tag).map(([, value]) => value);
  // RFC 8657, sections 3 and 4: given twice, no authority satisfies it.
  const accounts = valuesOf('accounturi');
  if (accounts.length > 1 || accounts.some((uri) => uri !== accountUri)) return 'other_account';
  const methods = valuesOf('validationmethods');
  if (methods.length > 1 || !methods.every((list) => names(list, method))) return 'other_method';
  return undefined;
};

const names = (list: string, method: string): boolean => {
  const methods = list.split(',');
  return methods.every((one) => /^[a-z0-9-]+$/i.test(one)) && methods.includes(method);
};
