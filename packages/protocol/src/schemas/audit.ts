import {
  AuditActor,
  AuditAnchor,
  AuditCheckpoint,
  AuditEntry,
  AuditHead,
  AuditRestore,
  AuditVerification,
  VerifyAuditRequest,
} from '../resources/audit.ts'
import { type NamedSchemas, namedObject } from './named-schema.ts'

const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const PREVIOUS_HASH = '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752'
const SHA_256 = 'SHA-256 in lower-case hex'

export const auditSchemas = {
  AuditActor: namedObject(AuditActor, {
    description: 'The token or the part of the server that performed an action.',
    members: {
      kind: 'Kind of the actor, such as `token`.',
      id: 'Id of the token. Absent when the actor used none.',
      subject: 'Subject of the actor. Absent when it is not known.',
    },
    example: { kind: 'token', id: 'tok_01k5x3v8qk7m2n9b4c6d8f0g1h', subject: 'ops' },
  }),
  AuditEntry: namedObject(AuditEntry, {
    description: 'An entry of the audit chain.',
    members: {
      seq: 'Number of the entry, from 1.',
      at: 'When the action took place.',
      actor: 'Token or part of the server that performed the action.',
      action: 'The action: the id of an operation, such as `tokens.create`, or an event of the server.',
      method: 'HTTP method. Absent when the action was not a request.',
      route: 'Path of the route, with placeholders. Absent when the action was not a request.',
      target: 'Id of what the action changed. Absent when it changed nothing with an id.',
      decision: 'Whether the server allowed the action.',
      status: 'HTTP status of the response. Absent when there was none.',
      durationMs: 'Time that the request took, in milliseconds. Absent when it was not measured.',
      requestId: 'Id of the request in the server log. Absent when the action was not a request.',
      ip: 'Address of the client. Absent when it is not known.',
      detail: 'Details of the action. Absent when there are none.',
      prevHash: `\`hash\` of the previous entry: ${SHA_256}.`,
      hash: `${SHA_256}, over \`prevHash\` and the canonical entry.`,
    },
    example: {
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
  }),
  AuditAnchor: namedObject(AuditAnchor, {
    description: 'An entry of the chain that the caller has stored.',
    members: { size: 'Number of the entry.', hash: `Hash of that entry: ${SHA_256}.` },
    example: { size: 42, hash: HASH },
  }),
  VerifyAuditRequest: namedObject(VerifyAuditRequest, {
    description: 'Options of a verification.',
    members: { expected: 'Entry that the chain must contain. Default: none.' },
    example: { expected: { size: 42, hash: HASH } },
  }),
  AuditHead: namedObject(AuditHead, {
    description: 'The newest entry of the chain.',
    members: { seq: 'Number of the entry.', hash: 'Hash of the entry.' },
    example: { seq: 1_042, hash: HASH },
  }),
  AuditCheckpoint: namedObject(AuditCheckpoint, {
    description: 'The newest line of the checkpoint file.',
    members: { seq: 'Number of the entry.', hash: 'Hash of the entry.', at: 'When the checkpoint was written.' },
    example: { seq: 1_000, hash: HASH, at: '2026-03-02T09:15:00.000Z' },
  }),
  AuditRestore: namedObject(AuditRestore, {
    description: 'A restore of an older backup that someone accepted with `perdure restore --accept-audit-head`.',
    members: {
      seq: 'Number of the entry that records the restore.',
      at: 'When the backup was restored.',
      head: 'The newest entry of the backup, which precedes that entry.',
      lost: 'The newest entry that was known and that the restored chain does not contain.',
    },
    example: {
      seq: 901,
      at: '2026-03-02T09:15:00.000Z',
      head: { seq: 900, hash: PREVIOUS_HASH },
      lost: { seq: 1_042, hash: HASH },
    },
  }),
  AuditVerification: namedObject(AuditVerification, {
    description: 'Result of a verification of the audit chain.',
    members: {
      ok: 'Whether the chain is intact.',
      entries: 'Number of verified entries.',
      head: 'The newest entry; null when the chain is empty.',
      checkpoint: 'The newest checkpoint; null when there is none.',
      unanchoredTail:
        'Number of entries after the newest checkpoint. A holder of the audit key could have altered these entries undetected.',
      firstBadSeq: 'Number of the first invalid entry. Absent when the chain is intact or the entry is not known.',
      reason: 'Why the chain is not intact. Absent when it is.',
      restored: 'The newest restore that discarded entries. Absent when there was none.',
    },
    example: {
      ok: true,
      entries: 1_042,
      head: { seq: 1_042, hash: HASH },
      checkpoint: { seq: 1_000, hash: PREVIOUS_HASH, at: '2026-03-02T09:15:00.000Z' },
      unanchoredTail: 42,
    },
  }),
} as const satisfies NamedSchemas
