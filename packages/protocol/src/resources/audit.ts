import * as v from 'valibot'
import { Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'

const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex'))
const Count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER))

export const AuditEntry = v.object({
  seq: v.number(),
  at: Timestamp,
  actor: v.object({ kind: v.string(), id: v.optional(v.string()), subject: v.optional(v.string()) }),
  action: v.string(),
  method: v.optional(v.string()),
  route: v.optional(v.string()),
  target: v.optional(v.string()),
  decision: v.picklist(['allowed', 'denied']),
  status: v.optional(v.number()),
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

/** With `expected`, the verification also checks that entry number `size` has the hash `hash`. */
export const VerifyAuditRequest = strictObject({
  expected: v.optional(strictObject({ size: Count, hash: Sha256 })),
})

export const AuditVerification = v.object({
  ok: v.boolean(),
  entries: v.number(),
  head: v.nullable(v.object({ seq: v.number(), hash: v.string() })),
  checkpoint: v.nullable(v.object({ seq: v.number(), hash: v.string(), at: Timestamp })),
  unanchoredTail: v.number(),
  firstBadSeq: v.optional(v.number()),
  reason: v.optional(v.string()),
})
