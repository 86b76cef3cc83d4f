import { certificatesSettings } from './certificates-settings.ts';
import { mailSettings } from './mail-settings.ts';
import { nameserverSettings } from './nameserver-settings.ts';
import { processSettings } from './process-settings.ts';
import { serverSettings } from './server-settings.ts';
import type { CamelCase, SettingTable, ValueOf } from './setting.ts';
import { sitesSettings } from './sites-settings.ts';
import { storageSettings } from './storage-settings.ts';
import { tracingSettings } from './tracing-settings.ts';

/** Every setting by its name in the environment. */
export const settings = {
  ...serverSettings,
  ...storageSettings,
  ...sitesSettings,
  ...certificatesSettings,
  ...mailSettings,
  ...nameserverSettings,
  ...processSettings,
  ...tracingSettings,
} satisfies SettingTable;

type Settings = typeof settings;

/** By names as code writes them. */
export type Given = {
  readonly [Name in keyof Settings as CamelCase<Name>]: ValueOf<Settings[Name]>;
};
