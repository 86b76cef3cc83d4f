import type { WantedLink } from '../../../access/domain/mail-request.ts';

interface LinkPage {
  readonly path: string;
  readonly title: string;
  readonly hint: string;
}

/** Where visitors who cannot sign in ask for a mail. */
export const linkPages: Readonly<Record<WantedLink, LinkPage>> = {
  new_password: {
    path: '/dashboard/forgot-password',
    title: 'Forgot your password?',
    hint: 'We send you a link that signs you in once. Then you choose a new password.',
  },
  sign_in: {
    path: '/dashboard/sign-in-link',
    title: 'Sign in by a link',
    hint: 'We send you a link that signs you in once, without a password.',
  },
};
