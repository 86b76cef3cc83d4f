import type { DomainEvent } from '../../kernel/domain-event.ts';
import type { Plan } from './plan.ts';

export interface AccountOpened extends DomainEvent<'account_opened'> {
  readonly plan: Plan;
}

export interface PlanChanged extends DomainEvent<'plan_changed'> {
  readonly from: Plan;
  readonly to: Plan;
  readonly perMinute: number;
  readonly perDay: number;
}

export interface ApiKeyIssued extends DomainEvent<'api_key_issued'> {
  readonly keyId: string;
}

export interface ApiKeyRotated extends DomainEvent<'api_key_rotated'> {
  readonly keyId: string;
  /** Until when the old secret works, ISO 8601. */
  readonly oldSecretUntil: string;
}

export interface ApiKeyBanned extends DomainEvent<'api_key_banned'> {
  readonly keyId: string;
  /** ISO 8601. */
  readonly until: string;
}

export interface ApiKeyBanLifted extends DomainEvent<'api_key_ban_lifted'> {
  readonly keyId: string;
}

export interface ApiKeyRevoked extends DomainEvent<'api_key_revoked'> {
  readonly keyId: string;
}

export interface PersonInvited extends DomainEvent<'person_invited'> {
  readonly personId: string;
  readonly email: string;
}

interface PersonRemoved extends DomainEvent<'person_removed'> {
  readonly personId: string;
  readonly email: string;
}

interface SignInLinkMade extends DomainEvent<'sign_in_link_made'> {
  readonly personId: string;
  readonly email: string;
}

interface PersonSignedIn extends DomainEvent<'person_signed_in'> {
  readonly personId: string;
  /** `password` or `link`. */
  readonly way: string;
}

export interface PasswordChanged extends DomainEvent<'password_changed'> {
  readonly personId: string;
}

interface SessionRevoked extends DomainEvent<'session_revoked'> {
  readonly personId: string;
  readonly sessionId: string;
}

export type AccessEvent =
  | PersonInvited
  | PersonRemoved
  | SignInLinkMade
  | PersonSignedIn
  | PasswordChanged
  | SessionRevoked
  | AccountOpened
  | PlanChanged
  | ApiKeyIssued
  | ApiKeyRotated
  | ApiKeyBanned
  | ApiKeyBanLifted
  | ApiKeyRevoked;
