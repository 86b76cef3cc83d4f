import { answerTasks } from '../../adapters/threads/answer-tasks.ts';
import type { DomainSettingsDraft } from '../../domains/domain/redirects/redirects.ts';
import { readDomainSettings } from '../domain-settings/text.ts';

answerTasks<undefined, string, DomainSettingsDraft>(() => readDomainSettings);
