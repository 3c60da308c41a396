import { openTokenAdmin } from '@perdure/server-app'
import type { Call } from '../call.ts'
import { parseIsoInstant } from '../flag-time.ts'
import { configBesideDev } from '../server-access/config-beside-dev.ts'

export interface SubjectsRevokeFlags {
  readonly subject: string
  readonly issuedUntil?: string
}

/** Works on the database directly, so that an operator can act while the server is down. */
export async function subjectsRevokeCommand(
  call: Call,
  { subject, issuedUntil: text }: SubjectsRevokeFlags,
): Promise<void> {
  const until = text === undefined ? undefined : new Date(parseIsoInstant('issued-until', text)).toISOString()
  const loaded = await call.config()
  const admin = await openTokenAdmin(configBesideDev(loaded), loaded)
  try {
    const { issuedUntil: at } = await admin.revokeSubject(subject, until)
    const issuedUntil = new Date(at).toISOString()
    call.out.document({ subject, issuedUntil }, () => `revoked what ${subject} was issued until ${issuedUntil}\n`)
  } finally {
    await admin.close()
  }
}
