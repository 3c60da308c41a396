import { type AuditLink, type ChainDigest, UNVOUCHED } from '@perdure/ports'

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

function membersOf(entry: string): { readonly seq?: unknown; readonly action?: unknown } | undefined {
  try {
    return JSON.parse(entry)
  } catch {
    return undefined
  }
}
