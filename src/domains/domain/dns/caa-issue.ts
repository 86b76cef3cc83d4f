import type { ValidationMethod } from './validation.ts';

/** The authority and account that want to issue. */
export interface CaaPolicy {
  /** The authority's name. */
  readonly authority: string;
  /** A record must name one of these; empty if the authority ignores CAA. */
  readonly issuers: readonly string[];
  /** The account as `accounturi` names it; undefined until there is one. */
  readonly accountUri: string | undefined;
  readonly method: ValidationMethod;
  /** Wanted for a wildcard: then `issuewild` decides, where there is one. */
  readonly isWildcard: boolean;
}

/** The value of an `issue` property (RFC 8659, section 4.2). */
export interface IssueValue {
  /** '' forbids all authorities. */
  readonly issuer: string;
  readonly parameters: readonly (readonly [tag: string, value: string])[];
}

/** Characters. The longest that authorities document have some two hundred. */
const longestValue = 1024;

const domainName = /^[a-z0-9](-*[a-z0-9])*(\.[a-z0-9](-*[a-z0-9])*)*$/i;
const parameterTag = /^[a-z0-9](?:-*[a-z0-9])*$/i;
const parameterValue = /^[\x21-\x3a\x3c-\x7e]*$/;

/** @returns undefined for what is malformed or longer than 1 KiB: it allows nothing */
export const parseIssueValue = (value: string): IssueValue | undefined => {
  if (value.length > longestValue) return undefined;
  const [name = '', ...rest] = value.split(';').map(withoutBlanks);
  if (name !== '' && !domainName.test(name)) return undefined;
  // A lone semicolon forbids all authorities.
  if (rest.length === 1 && rest[0] === '') return { issuer: name, parameters: [] };
  const parameters = rest.map(parameterIn);
  return parameters.every((one) => one !== undefined) ? { issuer: name, parameters } : undefined;
};

/** Tag "=" value, with blanks around both. */
const parameterIn = (text: string): IssueValue['parameters'][number] | undefined => {
  const equals = text.indexOf('=');
  if (equals === -1) return undefined;
  const tag = withoutBlanks(text.slice(0, equals));
  const value = withoutBlanks(text.slice(equals + 1));
  return parameterTag.test(tag) && parameterValue.test(value) ? [tag, value] : undefined;
};

/** Blanks and tabs at both ends are no part of it; other white space is. */
const withoutBlanks = (text: string): string => {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
};

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t';

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
