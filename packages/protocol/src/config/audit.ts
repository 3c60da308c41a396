import * as v from 'valibot'
import { field, optionalField, section } from './section.ts'
import { boolean, days, SecretReference } from './values.ts'

export const AuditSection = section({
  enabled: field(boolean, false, {
    note: 'Record every request in a separate encrypted file; when false, only privileged actions are recorded, in the database.',
  }),
  path: field(v.pipe(v.string(), v.minLength(1)), './.graphorin/audit.db', {
    note: 'Path of the audit log file, when audit.enabled is true.',
  }),
  passphraseRef: optionalField(SecretReference, {
    note: 'Secret reference to the passphrase of the audit log file; required when audit.enabled is true.',
  }),
  keyRef: optionalField(SecretReference, {
    note: 'Secret reference to the key that signs the chain head and the checkpoints, at least 32 bytes; when not set, the key is derived from the pepper.',
  }),
  checkpointPath: optionalField(v.pipe(v.string(), v.minLength(1)), {
    note: 'Path of the file with signed checkpoints, ideally on another volume; when not set, the file is next to the chain.',
  }),
  retentionDays: optionalField(days(1), {
    note: 'Days after which audit entries are removed, up to the last checkpoint before that time; never when not set.',
  }),
  events: field(v.picklist(['privileged', 'all', 'none']), 'privileged', {
    note: 'Which audit entries are also published to the event log under the subject audit/events, where they have only the protection of the database.',
  }),
})
