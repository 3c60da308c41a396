import { BUCKETS, bucketOf } from './item-list.ts'

/** Keys in no order. A set is never changed in place: each version shares most of its memory with the version before. */
export type KeySet = readonly (readonly string[])[]

export const NO_KEYS: KeySet = Array.from({ length: BUCKETS }, () => [])

/** Adds a key that the set does not have. */
export function addKey(set: KeySet, key: string): KeySet {
  const bucket = bucketOf(key)
  return set.with(bucket, [...(set[bucket] ?? []), key])
}

export function removeKey(set: KeySet, key: string): KeySet {
  const bucket = bucketOf(key)
  return set.with(bucket, set[bucket]?.filter((one) => one !== key) ?? [])
}

export const keysOf = (set: KeySet): readonly string[] => set.flat()
