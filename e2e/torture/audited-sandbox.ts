import { join } from 'node:path'
import { createSandbox, type Sandbox } from '../perdure-process.ts'

/** Creates a sandbox whose server audits every request, in a separate encrypted file. */
export function createAuditedSandbox(): Sandbox {
  const { dir, env } = createSandbox()
  const audit = {
    ...{ PERDURE_AUDIT_ENABLED: 'true', PERDURE_AUDIT_PATH: join(dir, 'audit.db') },
    ...{ PERDURE_AUDIT_PASSPHRASE_REF: 'env:E2E_PASSPHRASE', E2E_PASSPHRASE: 'correct horse battery staple' },
  }
  return { dir, env: { ...env, ...audit } }
}
