import { join } from 'node:path'
import { createPlace, type Place } from '../berth-process.ts'

/** An empty folder of a server that audits every request, in an encrypted file of its own. */
export function createAuditedPlace(): Place {
  const { dir, env } = createPlace()
  const audit = {
    ...{ BERTH_AUDIT_ENABLED: 'true', BERTH_AUDIT_PATH: join(dir, 'audit.db') },
    ...{ BERTH_AUDIT_PASSPHRASE_REF: 'env:E2E_PASSPHRASE', E2E_PASSPHRASE: 'correct horse battery staple' },
  }
  return { dir, env: { ...env, ...audit } }
}
