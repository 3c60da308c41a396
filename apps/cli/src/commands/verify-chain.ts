import { createHash } from 'node:crypto'
import { canonicalJson, GENESIS_HASH } from '@perdure/ports'
import { type AuditVerification, isPlainObject } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import { usageError } from '../cli-error.ts'

type Verification = InferOutput<typeof AuditVerification>

interface Place {
  readonly seq: number
  readonly hash: string
}

/**
 * Walks an exported chain line by line. Without the audit key and the checkpoints it can tell that entries were changed,
 * removed or moved, but not that the end was cut off or the whole rewritten: what is `expected` tells that.
 */
export async function verifyChain(
  lines: AsyncIterable<string>,
  expected?: { size: number; hash: string },
): Promise<Verification> {
  let head: Place | null = null
  let entries = 0
  let isMet = expected === undefined
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
    isMet = true
  }
  if (!isMet) return broken({ head, entries, firstBadSeq: (head?.seq ?? 0) + 1, reason: 'entry-missing' })
  return { ok: true, entries, head, checkpoint: null, unanchoredTail: entries }
}

interface Link extends Place {
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
    '--file holds a line that is no audit entry',
    'give what perdure audit export has written, as NDJSON',
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

/** The first entry of an export may follow others that retention has removed. */
function problemOf(
  { seq, hash, prevHash, text }: Link,
  before: Place | null,
): { seq: number; reason: string } | undefined {
  if (before !== null && seq !== before.seq + 1) return { seq: before.seq + 1, reason: 'entry-missing' }
  const follows = before?.hash ?? (seq === 1 ? GENESIS_HASH : prevHash)
  if (prevHash !== follows) return { seq, reason: 'link-broken' }
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
