import type { Page, StoredText } from '@perdure/ports'
import type { Program } from './program.ts'
import type { Db } from './query/dialect.ts'
import type { UnreadText } from './query/long-text.ts'
import type { TextPart } from './query/text-ref.ts'
import type { StorageHost } from './storage-host.ts'

/** Replaces each unread text of the records, so that `T` has a `StoredText` in its place. */
export async function withStoredTexts<T extends object>(
  host: Pick<StorageHost, 'read'>,
  page: Promise<Page<object>>,
): Promise<Page<T>> {
  const { items, nextCursor } = await page
  return { items: items.map((record) => withReads(host, record) as T), nextCursor }
}

function withReads(host: Pick<StorageHost, 'read'>, record: object): object {
  const entries = Object.entries(record)
  if (!entries.some(([, value]) => isUnread(value))) return record
  return Object.fromEntries(entries.map(([name, value]) => [name, isUnread(value) ? toStored(host, value) : value]))
}

const toStored = (host: Pick<StorageHost, 'read'>, { bytes, ref }: UnreadText): StoredText => ({
  bytes,
  read: (offset, length) => host.read(readTextPart, { ref, offset, length }),
})

function* readTextPart(db: Db, part: TextPart): Program<Uint8Array | undefined> {
  return yield* db.textPart(part)
}

const isUnread = (value: unknown): value is UnreadText => typeof value === 'object' && value !== null && 'ref' in value
