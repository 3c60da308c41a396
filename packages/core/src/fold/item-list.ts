import type { TranscriptItem } from './transcript.ts'

/**
 * A list of items that is never changed in place: each version shares most of its memory with the version before. Items
 * are found by a key.
 */
export interface ItemList {
  readonly chunks: readonly (readonly TranscriptItem[])[]
  readonly buckets: readonly (readonly KeyEntry[])[]
  readonly size: number
}

type KeyEntry = readonly [key: string, index: number]

const CHUNK = 64
export const BUCKETS = 128

export const NO_ITEMS: ItemList = { chunks: [], buckets: Array.from({ length: BUCKETS }, () => []), size: 0 }

/** Where the list has the item with this key. */
export const positionOf = ({ buckets }: ItemList, key: string): number | undefined => indexOf(buckets, key)

export function findItem({ chunks, buckets }: ItemList, key: string): TranscriptItem | undefined {
  const index = indexOf(buckets, key)
  return index === undefined ? undefined : chunks[Math.floor(index / CHUNK)]?.[index % CHUNK]
}

/** Replaces the item with this key by what `change` makes of it; the list itself if that is the same or there is none. */
export function changeItem(list: ItemList, key: string, change: (item: TranscriptItem) => TranscriptItem): ItemList {
  const { chunks, buckets, size } = list
  const index = indexOf(buckets, key)
  const at = Math.floor((index ?? 0) / CHUNK)
  const chunk = index === undefined ? undefined : chunks[at]
  const item = chunk?.[(index ?? 0) % CHUNK]
  if (index === undefined || chunk === undefined || item === undefined) return list
  const changed = change(item)
  if (changed === item) return list
  return { chunks: chunks.with(at, chunk.with(index % CHUNK, changed)), buckets, size }
}

/** Replaces the item with this key, or appends it. */
export function putItem(list: ItemList, key: string, item: TranscriptItem): ItemList {
  const { chunks, buckets, size } = list
  const known = indexOf(buckets, key)
  if (known !== undefined) {
    const at = Math.floor(known / CHUNK)
    const chunk = chunks[at] ?? []
    return { ...list, chunks: chunks.with(at, chunk.with(known % CHUNK, item)) }
  }
  const last = chunks.at(-1)
  const grown = last === undefined || last.length === CHUNK ? [...chunks, [item]] : chunks.with(-1, [...last, item])
  const bucket = bucketOf(key)
  const entries: readonly KeyEntry[] = [...(buckets[bucket] ?? []), [key, size]]
  return { chunks: grown, buckets: buckets.with(bucket, entries), size: size + 1 }
}

export const lastItem = ({ chunks }: ItemList): TranscriptItem | undefined => chunks.at(-1)?.at(-1)

export const allItems = ({ chunks }: ItemList): readonly TranscriptItem[] => chunks.flat()

function indexOf(buckets: ItemList['buckets'], key: string): number | undefined {
  for (const [known, index] of buckets[bucketOf(key)] ?? []) if (known === key) return index
  return undefined
}

/** The bucket of a key: FNV-1a. */
export function bucketOf(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return (hash >>> 0) % BUCKETS
}
