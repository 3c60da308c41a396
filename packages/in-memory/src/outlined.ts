import { MAX_SHORT_BYTES, type StoredText, utf8Length, type WithStored } from '@perdure/ports'

/**
 * Replaces the long texts among the named members by `StoredText`s.
 *
 * @param find returns the record as it is stored at the time of a read
 */
export function outlined<T extends object, Name extends keyof T>(
  record: T,
  names: readonly Name[],
  find: () => T | undefined,
): WithStored<T, Name> {
  const long = names.flatMap((name) => {
    const text = record[name]
    if (typeof text !== 'string' || utf8Length(text) <= MAX_SHORT_BYTES) return []
    return [[name, toStored(text, () => find()?.[name])] as const]
  })
  return Object.freeze({ ...record, ...Object.fromEntries(long) }) as WithStored<T, Name>
}

const toStored = (text: string, find: () => unknown): StoredText => ({
  bytes: utf8Length(text),
  async read(offset, length) {
    const current = find()
    return typeof current === 'string' ? new TextEncoder().encode(current).subarray(offset, offset + length) : undefined
  },
})
