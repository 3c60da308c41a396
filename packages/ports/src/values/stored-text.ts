/**
 * A long text of a record, left in the store and read in parts. A page of such records needs little memory, however
 * long a slow client takes to read it.
 */
export interface StoredText {
  /** Length in bytes of UTF-8. */
  readonly bytes: number
  /**
   * Reads up to `length` bytes of UTF-8 from `offset`. Returns undefined if the record was deleted. The bytes belong to the
   * caller, who may overwrite or release them.
   */
  read(offset: number, length: number): Promise<Uint8Array | undefined>
}

/** Upper limit for a text that is part of its record where a longer one is a `StoredText`. Bytes of UTF-8. */
export const MAX_SHORT_BYTES = 4 * 1024

/** A record in which the named members are a `StoredText` if they are longer than `MAX_SHORT_BYTES`. */
export type WithStored<T, Name extends keyof T> = {
  [Member in keyof T]: Member extends Name ? T[Member] | StoredText : T[Member]
}

export const isStoredText = (value: unknown): value is StoredText =>
  typeof value === 'object' && value !== null && 'read' in value && typeof value.read === 'function'
