import { isStoredText, type JsonText, type Page, type StoredText, utf8Length } from '@perdure/ports'

/** JSON with texts that are still in the store. */
export type JsonPieces = readonly (string | StoredText)[]

/** An item of a page: JSON, or JSON whose long texts were not read yet. */
export type PageItem = JsonText | JsonPieces

/**
 * Renders a page part by part, and reads each part of a long text only when it is wanted: a slow reader holds one part,
 * not the whole page. An item that was deleted since the page was read is left out.
 *
 * @throws Error if an item is deleted while it is rendered
 */
export async function* jsonPageParts({ items, nextCursor }: Page<PageItem>): AsyncGenerator<string | Uint8Array> {
  yield START
  let separator = ''
  for (const item of items) {
    for await (const part of partsOfItem([separator, ...piecesOf(item)])) {
      separator = ','
      yield part
    }
  }
  yield endOf(nextCursor)
}

/** Reads the whole item. @throws Error if the item was deleted */
export async function textOfItem(item: PageItem): Promise<JsonText> {
  const text = await textOfParts(partsOfItem(item))
  if (text === '') throw new Error('a record was deleted before it was read')
  return text
}

/** Joins the parts of an item or a page. */
export async function textOfParts(parts: AsyncIterable<string | Uint8Array>): Promise<JsonText> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of parts) text += typeof part === 'string' ? part : decoder.decode(part, { stream: true })
  return text as JsonText
}

/** Length of all items in bytes of UTF-8. */
export const lengthOfItems = (items: readonly PageItem[]): number =>
  items.flatMap(piecesOf).reduce((sum, piece) => sum + (isStoredText(piece) ? piece.bytes : utf8Length(piece)), 0)

/** Yields nothing for an item that was deleted. */
export async function* partsOfItem(item: PageItem): AsyncGenerator<string | Uint8Array> {
  let text = ''
  let isBegun = false
  for (const piece of piecesOf(item)) {
    if (typeof piece === 'string') {
      text += piece
      continue
    }
    for await (const part of partsOfText(piece)) {
      if (part === undefined && !isBegun) return
      if (part === undefined) throw new Error('a record was deleted while its page was sent')
      yield text
      text = ''
      isBegun = true
      yield part
    }
  }
  yield text
}

/** Yields undefined if the record was deleted. */
async function* partsOfText({ bytes, read }: StoredText): AsyncGenerator<Uint8Array | undefined> {
  for (let offset = 0; offset < bytes; offset += PART_BYTES) {
    const length = Math.min(PART_BYTES, bytes - offset)
    const part = await read(offset, length)
    yield part?.length === length ? part : undefined
  }
}

const START = '{"items":['

/** How much of a long text is read at once. Bytes of UTF-8. */
const PART_BYTES = 256 * 1024

export const piecesOf = (item: PageItem): JsonPieces => (typeof item === 'string' ? [item] : item)

const endOf = (nextCursor: string | null): string => `],"nextCursor":${JSON.stringify(nextCursor)}}`
