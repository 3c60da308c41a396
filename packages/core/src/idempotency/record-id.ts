import type { Digest } from '@perdure/ports'
import type { RequestIdentity } from './keyed-request.ts'

/** The owner of a key: the subject, the operation and its target. */
export type KeyOwner = Pick<RequestIdentity, 'subject' | 'method' | 'path'>

/** 128 bits in hex. */
const SCOPE_LENGTH = 32

/** The part of a record id before its colon. `holder` names the credential that a sealed request belongs to. */
export const recordScope = (
  digest: Digest,
  { subject, method, path }: KeyOwner,
  holder: readonly string[] = [],
): string => digest.sha256(JSON.stringify([subject, method, path, ...holder])).slice(0, SCOPE_LENGTH)

// The key is not hashed, so that sequential keys stay adjacent in the index; hashed keys would touch a different page
// each.
export const recordId = (scope: string, key: string): string => `${scope}:${key}`

/** The key that the client sent; undefined for a request of the server itself. */
export const clientKeyOf = (recordId: string): string | undefined => /^[0-9a-f]{32}:(.+)$/s.exec(recordId)?.[1]
