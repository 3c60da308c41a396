import {
  isStoredText,
  type JsonText,
  MAX_SHORT_BYTES,
  type Page,
  type Storage,
  type StoredText,
  toJsonText,
} from '@perdure/ports'
import { expect } from 'vitest'
import type { ContractCase } from './contract-case.ts'

export interface OutlinedList {
  /** Plural noun for the texts. */
  readonly noun: string
  /** Inserts one record with this text. */
  insert(storage: Storage, text: JsonText): Promise<unknown>
  /** Lists the texts of all records. */
  texts(storage: Storage): Promise<readonly (JsonText | StoredText | undefined)[]>
  /** Lists all records with their texts. */
  list(storage: Storage): Promise<Page<unknown>>
  outline(storage: Storage): Promise<Page<unknown>>
  /** Deletes every record. */
  remove(storage: Storage): Promise<unknown>
}

/** JSON of this length in bytes of UTF-8, with characters of one to four bytes. */
function jsonOf(bytes: number): JsonText {
  const text = toJsonText('aé世🚢'.repeat(Math.floor((bytes - 2) / 10)))
  return `${text.slice(0, -1)}${'z'.repeat((bytes - 2) % 10)}"` as JsonText
}

async function storedText(list: OutlinedList, storage: Storage): Promise<StoredText> {
  const [text] = await list.texts(storage)
  if (!isStoredText(text)) throw new Error(`the text is part of its record: ${text?.slice(0, 40)}`)
  return text
}

async function readAll({ bytes, read }: StoredText, length: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for (let offset = 0; offset < bytes; offset += length) parts.push((await read(offset, length)) ?? new Uint8Array())
  return Buffer.concat(parts)
}

/** Requirements for every list that leaves long texts in the store. */
export const outlineCases = (list: OutlinedList): readonly ContractCase[] => [
  {
    title: `outlines ${list.noun} up to 4 KiB as part of their records`,
    async run(storage) {
      await list.insert(storage, jsonOf(MAX_SHORT_BYTES))

      expect(await list.texts(storage)).toEqual([jsonOf(MAX_SHORT_BYTES)])
      expect(await list.outline(storage)).toEqual(await list.list(storage))
    },
  },
  {
    title: `outlines longer ${list.noun} as stored texts with their length`,
    async run(storage) {
      await list.insert(storage, jsonOf(MAX_SHORT_BYTES + 1))

      expect((await storedText(list, storage)).bytes).toBe(MAX_SHORT_BYTES + 1)
    },
  },
  {
    title: `reads stored ${list.noun} in parts of any length, also within a character`,
    async run(storage) {
      const text = jsonOf(20_001)
      await list.insert(storage, text)
      const stored = await storedText(list, storage)

      for (const length of [997, 20_000, 20_001, 30_000]) {
        expect((await readAll(stored, length)).equals(Buffer.from(text)), String(length)).toBe(true)
      }
      expect(await stored.read(20_001, 5)).toHaveLength(0)
    },
  },
  {
    title: `gives the bytes of stored ${list.noun} to the reader, who may overwrite them`,
    async run(storage) {
      const text = jsonOf(20_001)
      await list.insert(storage, text)
      const stored = await storedText(list, storage)

      ;(await stored.read(0, 20_001))?.fill(0)

      expect((await readAll(stored, 20_001)).equals(Buffer.from(text))).toBe(true)
    },
  },
  {
    title: `reads nothing from stored ${list.noun} whose record was deleted`,
    async run(storage) {
      await list.insert(storage, jsonOf(20_001))
      const stored = await storedText(list, storage)
      await list.remove(storage)

      expect(await stored.read(0, 10)).toBeUndefined()
    },
  },
]
