import { hostOf } from '../../domains/domain/certificates/renewal.ts';
import type { Config } from './config.ts';

export const siteUrl = (slug: string, platformHost: string, port: number): string =>
  new URL(`https://${hostOf(slug, platformHost)}:${String(port)}/`).href;

/** Where browsers find the dashboard: beside the API. */
export const dashboardOrigin = ({ publicUrl }: Pick<Config, 'publicUrl'>): string =>
  new URL(publicUrl).origin;

/** @param secret of a sign-in link */
export const signInUrl = (secret: string, config: Pick<Config, 'publicUrl'>): string =>
  `${dashboardOrigin(config)}/dashboard/sign-in/${secret}`;
