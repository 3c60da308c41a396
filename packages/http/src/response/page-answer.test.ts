import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonText, StoredText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { pageAnswer } from './page-answer.ts'

/** JSON of this length in a store. */
function stored(length: number) {
  const bytes = new TextEncoder().encode(`"${'x'.repeat(length - 2)}"`)
  const reads: number[] = []
  const text: StoredText = {
    bytes: length,
    async read(offset, size) {
      reads.push(size)
      return bytes.slice(offset, offset + size)
    },
  }
  return { ...text, reads }
}

const pageOf = (...texts: StoredText[]) => ({
  items: texts.map((text) => ['{"text":', text, '}']),
  nextCursor: null,
})

const answerTo = async (...texts: StoredText[]) => {
  const answer = await pageAnswer(pageOf(...texts))
  return 'arrayBuffer' in answer ? answer : new Response((answer as { json: JsonText }).json)
}

const lengthsOf = async (answer: Response) =>
  ((await answer.json()) as { items: { text: string }[] }).items.map(({ text }) => text.length + 2)

describe('pageAnswer', () => {
  it('answers a short page with one text', async () => {
    const answer = await pageAnswer(pageOf(stored(60_000), stored(60_000)))

    expect(answer).toMatchObject({ status: 200, json: expect.stringMatching(/^\{"items":\[.*\],"nextCursor":null\}$/) })
  })

  it('streams a long page with all its items', async () => {
    const answer = await answerTo(stored(1_000_000), stored(5_000), stored(70_000), stored(5_000))

    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await lengthsOf(answer)).toEqual([1_000_000, 5_000, 70_000, 5_000])
  })

  it('reads no further than the client', async () => {
    const texts = [stored(1_000_000), stored(1_000_000)]
    const reader = (await answerTo(...texts)).body?.getReader()

    await reader?.read()
    await reader?.read()
    for (let turn = 0; turn < 5; turn++) await nextTurn()

    expect(texts.map(({ reads }) => reads.length)).toEqual([1, 0])
    await reader?.cancel()
    expect(texts.map(({ reads }) => reads.length)).toEqual([1, 0])
  })

  it('sends many short texts of a long page together', async () => {
    const body = (await answerTo(...Array.from({ length: 40 }, () => stored(5_000)))).body

    let chunks = 0
    for await (const _ of body ?? []) chunks++
    expect(chunks).toBeLessThan(10)
  })

  it('fails the answer if a text is deleted while it is sent', async () => {
    const [first, second] = [stored(300_000), stored(300_000)]
    const isGone = {
      ...second,
      read: async (offset: number, size: number) => (offset === 0 ? second.read(offset, size) : undefined),
    }

    await expect((await answerTo(first, isGone)).text()).rejects.toThrow('deleted')
  })
})
