import * as v from 'valibot'
import { Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Count } from './count.ts'

const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex'))
const Size = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER))

export const AuditActor = v.object({
  kind: v.string(),
  id: v.optional(v.string()),
  subject: v.optional(v.string()),
})

export const AuditEntry = v.object({
  seq: Count,
  at: Timestamp,
  actor: AuditActor,
  action: v.string(),
  method: v.optional(v.string()),
  route: v.optional(v.string()),
  target: v.optional(v.string()),
  decision: v.picklist(['allowed', 'denied']),
  status: v.optional(Count),
  durationMs: v.optional(v.number()),
  requestId: v.optional(v.string()),
  ip: v.optional(v.string()),
  detail: v.optional(v.unknown()),
  prevHash: v.string(),
  hash: v.string(),
})

/**
 * Query members that filter the chain; an entry must match all of them. `actor` is a subject or a token id, `since` is
 * inclusive, `until` exclusive.
 */
export const AuditFilterEntries = {
  action: v.optional(v.string()),
  actor: v.optional(v.string()),
  since: v.optional(Timestamp),
  until: v.optional(Timestamp),
}

/** A chain head that the caller has stored. */
export const AuditAnchor = strictObject({ size: Size, hash: Sha256 })

/** With `expected`, the verification also checks that entry number `size` has the hash `hash`. */
export const VerifyAuditRequest = strictObject({
  expected: v.optional(AuditAnchor),
})

export const AuditHead = v.object({ seq: Count, hash: v.string() })
export const AuditCheckpoint = v.object({ seq: Count, hash: v.string(), at: Timestamp })

export const AuditRestore = v.object({ seq: Count, at: Timestamp, head: AuditHead, lost: AuditHead })

export const AuditVerification = v.object({
  ok: v.boolean(),
  entries: Count,
  head: v.nullable(AuditHead),
  checkpoint: v.nullable(AuditCheckpoint),
  unanchoredTail: Count,
  firstBadSeq: v.optional(Count),
  reason: v.optional(v.string()),
  restored: v.optional(AuditRestore),
})
