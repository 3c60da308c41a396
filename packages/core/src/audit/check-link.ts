import { type AuditLink, type ChainDigest, UNVOUCHED } from '@perdure/ports'

/** What is wrong, and with which entry if that can be told. */
export interface Finding {
  readonly seq?: number | undefined
  readonly reason: string
}

/** Whether the entry follows the one before, as it was written. */
export function checkLink(
  { seq, prevHash, hash, entry }: AuditLink,
  before: Pick<AuditLink, 'seq' | 'hash'>,
  digest: ChainDigest,
): Finding | undefined {
  const expected = before.seq + 1
  if (seq !== expected) return { seq: expected, reason: 'entry-missing' }
  if (prevHash !== before.hash) return { seq, reason: 'link-broken' }
  if (digest.sha256(prevHash + entry) !== hash) return { seq, reason: 'entry-altered' }
  return membersOf(entry)?.seq === seq ? undefined : { seq, reason: 'entry-misplaced' }
}

/** Whether the entry says that nothing vouched for the chain when it was continued. */
export const isUnvouched = ({ entry }: AuditLink): boolean =>
  entry.includes(UNVOUCHED) && membersOf(entry)?.action === UNVOUCHED

function membersOf(entry: string): { readonly seq?: unknown; readonly action?: unknown } | undefined {
  try {
    return JSON.parse(entry)
  } catch {
    return undefined
  }
}
