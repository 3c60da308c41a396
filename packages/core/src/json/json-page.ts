import { isStoredText, type JsonText, type Page, type StoredText, utf8Length } from '@perdure/ports'

/** JSON with texts that are still in the store. */
export type JsonPieces = readonly (string | StoredText)[]

/** An item of a page: JSON, or JSON whose long texts were not read yet. */
export type PageItem = JsonText | JsonPieces

/** Renders a page whose items are already JSON. Does not parse them, because a page may hold megabytes of user data. */
export function jsonPage({ items, nextCursor }: Page<JsonText>): JsonText {
  // Concatenation copies the items once, when the text is sent; `join` would copy them once more.
  let text = START
  for (const [index, item] of items.entries()) text += index === 0 ? item : `,${item}`
  return `${text}${endOf(nextCursor)}` as JsonText
}

/**
 * Renders a page part by part, and reads each part of a long text only when it is wanted: a slow reader holds one part,
 * not the whole page. An item that was deleted since the page was read is left out.
 *
 * @throws Error if an item is deleted while it is rendered
 */
export async function* jsonPageParts({ items, nextCursor }: Page<PageItem>): AsyncGenerator<string | Uint8Array> {
  let text = START
  let separator = ''
  for (const item of items) {
    let isNew = true
    for await (const part of partsOfItem(item)) {
      if (isNew) text += separator
      isNew = false
      separator = ','
      if (typeof part === 'string') text += part
      else {
        yield text
        text = ''
        yield part
      }
    }
  }
  yield `${text}${endOf(nextCursor)}`
}

/** Reads the whole item. @throws Error if the item was deleted */
export async function textOfItem(item: PageItem): Promise<JsonText> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of partsOfItem(item)) {
    text += typeof part === 'string' ? part : decoder.decode(part, { stream: true })
  }
  if (text === '') throw new Error('a record was deleted before it was read')
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

const piecesOf = (item: PageItem): JsonPieces => (typeof item === 'string' ? [item] : item)

const endOf = (nextCursor: string | null): string => `],"nextCursor":${JSON.stringify(nextCursor)}}`
