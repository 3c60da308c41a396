import type { Call } from '../call.ts'
import { expiryOf } from '../expiry.ts'
import { spanMs } from '../span.ts'

export interface TokenRotateFlags {
  readonly id: string
  readonly grace?: string
  readonly expires?: string
}

export async function tokenRotateCommand(call: Call, { id, grace, expires }: TokenRotateFlags): Promise<void> {
  const expiresAt = expires === undefined ? undefined : expiryOf({ expires }, Date.now())
  const minted = await call.client().tokens.rotate(id, {
    ...(grace === undefined ? {} : { graceSeconds: Math.ceil(spanMs('grace', grace) / 1_000) }),
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
  })
  if (!call.out.isJson) call.out.note(`${minted.id} replaces ${id}; shown only now`)
  call.out.document(minted, () => `${minted.token}\n`)
}
