import { createHash } from 'node:crypto'
import { canonicalJson, GENESIS_HASH } from '@perdure/ports'
import { type AuditVerification, isPlainObject } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import { usageError } from '../cli-error.ts'

type Verification = InferOutput<typeof AuditVerification>

interface EntryRef {
  readonly seq: number
  readonly hash: string
}

/**
 * Verifies an exported chain line by line. The export contains neither the audit key nor the checkpoints, so the check
 * detects entries that were changed, removed or moved, but detects a truncated or completely rewritten chain only with
 * `expected`.
 */
export async function verifyChain(
  lines: AsyncIterable<string>,
  expected?: { size: number; hash: string },
): Promise<Verification> {
  let head: EntryRef | null = null
  let entries = 0
  let hasExpected = expected === undefined
  for await (const line of lines) {
    if (line === '') continue
    const link = readLink(line)
    const problem = problemOf(link, head)
    if (problem !== undefined) return broken({ head, entries, firstBadSeq: problem.seq, reason: problem.reason })
    head = { seq: link.seq, hash: link.hash }
    entries += 1
    if (expected?.size !== link.seq) continue
    if (expected.hash !== link.hash)
      return broken({ head, entries, firstBadSeq: link.seq, reason: 'expected-mismatch' })
    hasExpected = true
  }
  if (!hasExpected) return broken({ head, entries, firstBadSeq: (head?.seq ?? 0) + 1, reason: 'entry-missing' })
  return { ok: true, entries, head, checkpoint: null, unanchoredTail: entries }
}

interface Link extends EntryRef {
  readonly prevHash: string
  /** The canonical text that was hashed. */
  readonly text: string
}

function readLink(line: string): Link {
  const entry = parse(line)
  const { hash, prevHash, ...rest } = entry ?? {}
  if (
    entry !== undefined &&
    typeof hash === 'string' &&
    typeof prevHash === 'string' &&
    typeof entry.seq === 'number'
  ) {
    return { seq: entry.seq, hash, prevHash, text: canonicalJson(rest) }
  }
  throw usageError(
    '--file has a line that is not an audit entry',
    'pass an NDJSON file written by perdure audit export',
  )
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isPlainObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The first entry of an export may follow entries that retention removed. */
function problemOf(
  { seq, hash, prevHash, text }: Link,
  previous: EntryRef | null,
): { seq: number; reason: string } | undefined {
  if (previous !== null && seq !== previous.seq + 1) return { seq: previous.seq + 1, reason: 'entry-missing' }
  const expectedHash = previous?.hash ?? (seq === 1 ? GENESIS_HASH : prevHash)
  if (prevHash !== expectedHash) return { seq, reason: 'link-broken' }
  return createHash('sha256')
    .update(prevHash + text)
    .digest('hex') === hash
    ? undefined
    : { seq, reason: 'entry-altered' }
}

const broken = (found: Pick<Verification, 'head' | 'entries' | 'firstBadSeq' | 'reason'>): Verification => ({
  ok: false,
  checkpoint: null,
  unanchoredTail: found.entries,
  ...found,
})
