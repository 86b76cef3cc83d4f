import type { DomainEvent } from '../../kernel/domain-event.ts';
import type { Plan } from './plan.ts';

export interface AccountOpened extends DomainEvent<'account_opened'> {
  readonly plan: Plan;
}

export interface PlanChanged extends DomainEvent<'plan_changed'> {
  readonly from: Plan;
  readonly to: Plan;
}

export interface ApiKeyIssued extends DomainEvent<'api_key_issued'> {
  readonly keyId: string;
}

export interface ApiKeyRevoked extends DomainEvent<'api_key_revoked'> {
  readonly keyId: string;
}

export type AccessEvent = AccountOpened | PlanChanged | ApiKeyIssued | ApiKeyRevoked;
