import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Count } from './count.ts'

const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex'))
const Size = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER))

export const AuditActor = documented(
  v.object({
    kind: member(v.string(), 'Kind of the actor, such as `token`.'),
    id: member(v.optional(v.string()), 'Id of the token. Absent when the actor used none.'),
    subject: member(v.optional(v.string()), 'Subject of the actor. Absent when it is not known.'),
  }),
  'The token or the part of the server that performed an action.',
  { kind: 'token', id: 'tok_01k5x3v8qk7m2n9b4c6d8f0g1h', subject: 'ops' },
)

const PREVIOUS_HASH = '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752'
const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

export const AuditEntry = documented(
  v.object({
    seq: member(Count, 'Number of the entry, from 1.'),
    at: member(Timestamp, 'When the action took place.'),
    actor: member(AuditActor, 'Token or part of the server that performed the action.'),
    action: member(
      v.string(),
      'The action: the id of an operation, such as `tokens.create`, or an event of the server.',
    ),
    method: member(v.optional(v.string()), 'HTTP method. Absent when the action was not a request.'),
    route: member(
      v.optional(v.string()),
      'Path of the route, with placeholders. Absent when the action was not a request.',
    ),
    target: member(v.optional(v.string()), 'Id of what the action changed. Absent when it changed nothing with an id.'),
    decision: member(v.picklist(['allowed', 'denied']), 'Whether the server allowed the action.'),
    status: member(v.optional(Count), 'HTTP status of the response. Absent when there was none.'),
    durationMs: member(
      v.optional(v.number()),
      'Time that the request took, in milliseconds. Absent when it was not measured.',
    ),
    requestId: member(
      v.optional(v.string()),
      'Id of the request in the server log. Absent when the action was not a request.',
    ),
    ip: member(v.optional(v.string()), 'Address of the client. Absent when it is not known.'),
    detail: member(v.optional(v.unknown()), 'Details of the action. Absent when there are none.'),
    prevHash: member(v.string(), '`hash` of the previous entry: SHA-256 in lower-case hex.'),
    hash: member(v.string(), 'SHA-256 in lower-case hex, over `prevHash` and the canonical entry.'),
  }),
  'An entry of the audit chain.',
  {
    seq: 42,
    at: '2026-03-02T09:15:00.000Z',
    actor: { kind: 'token', id: 'tok_01k5x3v8qk7m2n9b4c6d8f0g1h', subject: 'ops' },
    action: 'tokens.create',
    method: 'POST',
    route: '/tokens',
    decision: 'allowed',
    status: 201,
    prevHash: PREVIOUS_HASH,
    hash: HASH,
  },
)

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

export const AuditAnchor = documented(
  strictObject({
    size: member(Size, 'Number of the entry.'),
    hash: member(Sha256, 'Hash of that entry: SHA-256 in lower-case hex.'),
  }),
  'An entry of the chain that the caller has stored.',
  { size: 42, hash: HASH },
)

export const VerifyAuditRequest = documented(
  strictObject({
    expected: member(v.optional(AuditAnchor), 'Entry that the chain must contain. Default: none.'),
  }),
  'Options of a verification.',
  { expected: { size: 42, hash: HASH } },
)

export const AuditHead = documented(
  v.object({ seq: member(Count, 'Number of the entry.'), hash: member(v.string(), 'Hash of the entry.') }),
  'The newest entry of the chain.',
  { seq: 1_042, hash: HASH },
)
export const AuditCheckpoint = documented(
  v.object({
    seq: member(Count, 'Number of the entry.'),
    hash: member(v.string(), 'Hash of the entry.'),
    at: member(Timestamp, 'When the checkpoint was written.'),
  }),
  'The newest line of the checkpoint file.',
  { seq: 1_000, hash: HASH, at: '2026-03-02T09:15:00.000Z' },
)

export const AuditRestore = documented(
  v.object({
    seq: member(Count, 'Number of the entry that records the restore.'),
    at: member(Timestamp, 'When the backup was restored.'),
    head: member(AuditHead, 'The newest entry of the backup, which precedes that entry.'),
    lost: member(AuditHead, 'The newest entry that was known and that the restored chain does not contain.'),
  }),
  'A restore of an older backup that someone accepted with `perdure restore --accept-audit-head`.',
  {
    seq: 901,
    at: '2026-03-02T09:15:00.000Z',
    head: { seq: 900, hash: PREVIOUS_HASH },
    lost: { seq: 1_042, hash: HASH },
  },
)

export const AuditVerification = documented(
  v.object({
    ok: member(v.boolean(), 'Whether the chain is intact.'),
    entries: member(Count, 'Number of verified entries.'),
    head: member(v.nullable(AuditHead), 'The newest entry; null when the chain is empty.'),
    checkpoint: member(v.nullable(AuditCheckpoint), 'The newest checkpoint; null when there is none.'),
    unanchoredTail: member(
      Count,
      'Number of entries after the newest checkpoint. A holder of the audit key could have altered these entries undetected.',
    ),
    firstBadSeq: member(
      v.optional(Count),
      'Number of the first invalid entry. Absent when the chain is intact or the entry is not known.',
    ),
    reason: member(v.optional(v.string()), 'Why the chain is not intact. Absent when it is.'),
    restored: member(
      v.optional(AuditRestore),
      'The newest restore that discarded entries. Absent when there was none.',
    ),
  }),
  'Result of a verification of the audit chain.',
  {
    ok: true,
    entries: 1_042,
    head: { seq: 1_042, hash: HASH },
    checkpoint: { seq: 1_000, hash: PREVIOUS_HASH, at: '2026-03-02T09:15:00.000Z' },
    unanchoredTail: 42,
  },
)
