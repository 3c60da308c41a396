import { join } from 'node:path'
import { createPlace, type Place } from '../perdure-process.ts'

/** An empty folder of a server that audits every request, in an encrypted file of its own. */
export function createAuditedPlace(): Place {
  const { dir, env } = createPlace()
  const audit = {
    ...{ PERDURE_AUDIT_ENABLED: 'true', PERDURE_AUDIT_PATH: join(dir, 'audit.db') },
    ...{ PERDURE_AUDIT_PASSPHRASE_REF: 'env:E2E_PASSPHRASE', E2E_PASSPHRASE: 'correct horse battery staple' },
  }
  return { dir, env: { ...env, ...audit } }
}
