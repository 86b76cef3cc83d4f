import type { DomainEvent } from '../../kernel/decision.ts';
import type { Plan } from './quota.ts';
import type { Role } from './role.ts';

interface KeyEvent<Type extends string> extends DomainEvent<Type> {
  readonly keyId: string;
}

interface PersonEvent<Type extends string> extends DomainEvent<Type> {
  readonly personId: string;
}

interface AddressEvent<Type extends string> extends PersonEvent<Type> {
  readonly email: string;
}

interface PlanChanged extends DomainEvent<'plan_changed'> {
  readonly from: Plan;
  readonly to: Plan;
  readonly perMinute: number;
  readonly perDay: number;
  readonly projects?: number;
  readonly domains?: number;
  readonly storageGib?: number;
}

interface OfQuota<Type extends string> extends DomainEvent<Type> {
  readonly used: number;
  readonly limit: number;
  readonly resetsAt: string;
}

interface OperationRemoval extends DomainEvent<'operation_removal'> {
  readonly operation: string;
  readonly removedAt: string;
  readonly days: number;
}

/** Times are ISO 8601. */
export type AccessEvent =
  | (DomainEvent<'account_opened'> & { readonly plan: Plan })
  | (DomainEvent<'account_renamed'> & { readonly name: string })
  /** The account can be restored before `until`. */
  | (DomainEvent<'account_deleted'> & { readonly name: string; readonly until: string })
  | DomainEvent<'account_restored'>
  | PlanChanged
  | KeyEvent<'api_key_issued'>
  | (KeyEvent<'api_key_rotated'> & { readonly oldSecretUntil: string })
  | (KeyEvent<'api_key_banned'> & { readonly until: string })
  | KeyEvent<'api_key_ban_lifted'>
  | KeyEvent<'api_key_revoked'>
  | OfQuota<'quota_warning'>
  | OfQuota<'quota_reached'>
  /** The account still calls an operation that will be removed in `days` days. */
  | OperationRemoval
  | (AddressEvent<'person_invited'> & { readonly role: Role })
  | (AddressEvent<'person_role_changed'> & { readonly from: Role; readonly to: Role })
  | AddressEvent<'person_removed'>
  | AddressEvent<'sign_in_link_made'>
  /**
   * Somebody made a link for another person. That person also gets a link by mail. `whose` is as for `SignInLinks.add`.
   */
  | (AddressEvent<'link_mail_wanted'> & { readonly whose: 'anybody' | 'newcomer' })
  | AddressEvent<'sign_in_link_mailed'>
  | (PersonEvent<'person_signed_in'> & { readonly way: string })
  | PersonEvent<'password_changed'>
  | (PersonEvent<'second_factor_added'> & { readonly method: string })
  | (PersonEvent<'second_factor_removed'> & { readonly method: string })
  | PersonEvent<'second_factor_reset'>
  | PersonEvent<'recovery_codes_made'>
  | (PersonEvent<'recovery_code_used'> & { readonly left: number })
  | (DomainEvent<'second_factor_demanded'> & { readonly isDemanded: boolean })
  | (PersonEvent<'session_revoked'> & { readonly sessionId: string });
