import type { Call } from '../call.ts'
import { parseDuration } from '../duration.ts'
import { expiryOf } from '../expiry.ts'

export interface TokenRotateFlags {
  readonly id: string
  readonly grace?: string
  readonly expires?: string
}

export async function tokenRotateCommand(call: Call, { id, grace, expires }: TokenRotateFlags): Promise<void> {
  const expiresAt = expires === undefined ? undefined : expiryOf({ expires }, Date.now())
  const minted = await call.client().tokens.rotate(id, {
    ...(grace === undefined ? {} : { graceSeconds: Math.ceil(parseDuration('grace', grace) / 1_000) }),
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
  })
  if (!call.out.isJson) call.out.note(`${minted.id} replaces ${id}; the token is not shown again`)
  call.out.document(minted, () => `${minted.token}\n`)
}
