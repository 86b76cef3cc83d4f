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

export type AccessEvent =
  | AccountOpened
  | PlanChanged
  | ApiKeyIssued
  | ApiKeyRotated
  | ApiKeyBanned
  | ApiKeyBanLifted
  | ApiKeyRevoked;
