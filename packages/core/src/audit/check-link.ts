import { type AuditLink, type ChainDigest, RESTORED, UNVOUCHED } from '@perdure/ports'

/** A defect of the chain, with the number of the defective entry if that number is known. */
export interface Finding {
  readonly seq?: number | undefined
  readonly reason: string
}

/** Checks that the entry directly follows `previous` and is unaltered. */
export function checkLink(
  { seq, prevHash, hash, entry }: AuditLink,
  previous: Pick<AuditLink, 'seq' | 'hash'>,
  digest: ChainDigest,
): Finding | undefined {
  const expected = previous.seq + 1
  if (seq !== expected) return { seq: expected, reason: 'entry-missing' }
  if (prevHash !== previous.hash) return { seq, reason: 'link-broken' }
  if (digest.sha256(prevHash + entry) !== hash) return { seq, reason: 'entry-altered' }
  return membersOf(entry)?.seq === seq ? undefined : { seq, reason: 'entry-misplaced' }
}

/** Whether the entry records that the chain was continued although no valid head confirmed its last entry. */
export const isUnvouched = ({ entry }: AuditLink): boolean =>
  entry.includes(UNVOUCHED) && membersOf(entry)?.action === UNVOUCHED

/** A restore that discarded entries: the chain continues after `head`, and `lost` was the newest discarded entry. */
export interface AcceptedRestore {
  readonly seq: number // of the entry that records the restore
  readonly at: string
  readonly head: Pick<AuditLink, 'seq' | 'hash'>
  readonly lost: Pick<AuditLink, 'seq' | 'hash'>
}

/** The restore that an entry records; `undefined` for any other entry. */
export function acceptedRestore({ seq, prevHash, entry }: AuditLink): AcceptedRestore | undefined {
  if (!entry.includes(RESTORED)) return undefined
  const { action, at, detail } = membersOf(entry) ?? {}
  if (action !== RESTORED || typeof at !== 'string') return undefined
  const { lostSeq, lostHash } = (detail ?? {}) as Readonly<Record<string, unknown>>
  return {
    ...{ seq, at, head: { seq: seq - 1, hash: prevHash } },
    lost: { seq: Number(lostSeq), hash: String(lostHash) },
  }
}

interface EntryMembers {
  readonly seq?: unknown
  readonly action?: unknown
  readonly at?: unknown
  readonly detail?: unknown
}

function membersOf(entry: string): EntryMembers | undefined {
  try {
    return JSON.parse(entry)
  } catch {
    return undefined
  }
}
