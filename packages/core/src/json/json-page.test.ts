import { type JsonText, type StoredText, toJsonText } from '@perdure/ports'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonPageParts, lengthOfItems } from './json-page.ts'
import { jsonPieces } from './json-pieces.ts'
import { renderedPage } from './page-items.fixture.ts'

/** A text in a store, deleted after a number of reads. */
function stored(text: string, readsBeforeDeletion = Number.POSITIVE_INFINITY) {
  const bytes = new TextEncoder().encode(text)
  const reads: number[] = []
  const storedText: StoredText = {
    bytes: bytes.length,
    async read(offset, length) {
      if (reads.length >= readsBeforeDeletion) return undefined
      reads.push(length)
      return bytes.subarray(offset, offset + length)
    },
  }
  return { ...storedText, reads }
}

const LONG = toJsonText('aé世🚢'.repeat(60_000))

describe('jsonPageParts', () => {
  it('renders the items and the cursor as one page, wherever the texts are', async () => {
    const item = fc.record({
      fields: fc.dictionary(fc.string(), fc.string()),
      isStored: fc.boolean(),
      text: fc.string(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(item), fc.option(fc.string()), async (items, nextCursor) => {
        const texts = items.map(({ fields, text }) => jsonPieces({ id: 'a', ...fields }, { text: toJsonText(text) }))
        const outlined = items.map(({ fields, isStored, text }) => {
          const json = toJsonText(text)
          return jsonPieces({ id: 'a', ...fields }, { text: isStored ? stored(json) : json })
        })

        expect(await renderedPage(outlined, nextCursor)).toBe(
          `{"items":[${texts.join()}],"nextCursor":${JSON.stringify(nextCursor)}}`,
        )
      }),
    )
  })

  it('reads a part of a long text only when the part is wanted', async () => {
    const text = stored(LONG)
    const parts = jsonPageParts({ items: [jsonPieces({ id: 'a' }, { text })], nextCursor: null })

    await parts.next()
    await parts.next()

    expect(text.reads).toEqual([256 * 1024])
    await parts.return(undefined)
    expect(text.reads).toHaveLength(1)
  })

  it('joins the parts of a text that was split within a character', async () => {
    const page = JSON.parse(await renderedPage([jsonPieces({ id: 'a' }, { text: stored(LONG), more: stored(LONG) })]))

    expect(page.items).toEqual([{ id: 'a', text: JSON.parse(LONG), more: JSON.parse(LONG) }])
  })

  it.each([
    [0, ['b', 'c']],
    [1, ['a', 'c']],
    [2, ['a', 'b']],
  ])('leaves out an item that was deleted before it is rendered, at index %i', async (deleted, rest) => {
    const items = ['a', 'b', 'c'].map((id, index) =>
      jsonPieces({ id }, { text: stored(LONG, index === deleted ? 0 : undefined) }),
    )

    const page = JSON.parse(await renderedPage(items, 'next'))

    expect(page.items.map(({ id }: { id: string }) => id)).toEqual(rest)
    expect(page.nextCursor).toBe('next')
  })

  it('fails if an item is deleted while it is rendered', async () => {
    const begun = jsonPieces({ id: 'a' }, { input: stored(LONG, 1) })
    const between = jsonPieces({ id: 'a' }, { input: stored('"short"'), result: stored(LONG, 0) })

    for (const item of [begun, between]) await expect(renderedPage([item])).rejects.toThrow('deleted')
  })

  it('measures items in bytes, with the texts in the store', () => {
    expect(lengthOfItems(['"é"' as JsonText, ['{"a":', stored('"世"'), '}']])).toBe(4 + 5 + 5 + 1)
  })
})
