import type { AuditEntry, NewAuditEntry } from './audit-log.ts'
import { canonicalJson } from './canonical-json.ts'

/** What the first link follows. */
export const GENESIS_HASH = '0'.repeat(64)

/** The next link after `prevHash`; every storage makes its links by this. */
export function linkEntry(
  entry: NewAuditEntry,
  place: { readonly seq: number; readonly prevHash: string },
  sha256: (text: string) => string,
): AuditEntry {
  const text = canonicalJson({ ...entry, at: new Date(entry.at).toISOString(), seq: place.seq })
  return { ...entry, ...place, entry: text, hash: sha256(place.prevHash + text) }
}
