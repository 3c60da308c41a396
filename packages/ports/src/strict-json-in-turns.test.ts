import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRefusal } from './perdure-error.ts'
import { parseStrictInTurns, parseStrictJson } from './values/strict-json.ts'

const MIB = 1_048_576

async function parse(text: string, maxBytes = 8 * MIB) {
  let turns = 1
  const yieldTurn = async () => void turns++
  const parsed = await parseStrictInTurns(new TextEncoder().encode(text), { maxBytes, yieldTurn })
  return { ...parsed, turns }
}

const problemOf = (text: string, maxBytes?: number): Promise<string | undefined> =>
  parse(text, maxBytes).then(
    () => undefined,
    (error: unknown) => {
      if (isRefusal(error) && error.code === 'invalid-json') return error.message
      throw error
    },
  )

function problemAtOnce(text: string): string | undefined {
  try {
    parseStrictJson(new TextEncoder().encode(text))
    return undefined
  } catch (error) {
    if (isRefusal(error)) return error.message
    throw error
  }
}

const row = Object.fromEntries(Array.from({ length: 12 }, (_, column) => [`column${column}`, column * 100]))
const tables = (count: number) => ({
  messages: Array.from({ length: count }, (_, id) => ({
    id,
    parts: [{ output: Array.from({ length: 100 }, () => row) }],
  })),
})

describe('parseStrictInTurns', () => {
  it('parses a history of many tables in turns, to the same value', async () => {
    const text = JSON.stringify(tables(400))
    const { value, isLarge, turns } = await parse(text)

    expect(value).toEqual(JSON.parse(text))
    expect(isLarge).toBe(true)
    expect(turns).toBeGreaterThan((text.length / MIB) * 20)
  })

  it.each(['{}', '[]', ' 1 ', '"x"', '{"a":[1,{"b":null}]}'])('parses %s in one turn', async (text) => {
    expect(await parse(text)).toEqual({ value: JSON.parse(text), isLarge: false, turns: 1 })
  })

  it('builds the same value as JSON.parse, wherever a turn ends', async () => {
    const filler = fc.constantFrom(0, 1, 40_000).map((length) => 'x'.repeat(length))
    const long = fc.record({ value: fc.jsonValue({ maxDepth: 6 }), filler })
    await fc.assert(
      fc.asyncProperty(fc.array(long, { maxLength: 6 }), fc.constantFrom(0, 1), async (items, indent) => {
        const nested = items.reduce<unknown>((inner, { value, filler: pad }, index) => {
          return index % 2 === 0 ? [pad, inner, value, pad] : { pad, inner, value, [`${index}`]: pad, 1: pad }
        }, null)
        const text = JSON.stringify(nested, null, indent)
        const said = problemAtOnce(text)
        fc.pre(said === undefined)
        expect(JSON.stringify((await parse(text)).value)).toBe(JSON.stringify(JSON.parse(text)))
      }),
      { numRuns: 300 },
    )
  })

  it.each([
    ['a name twice', `{"a":[${'"xxxxxxxx",'.repeat(9_000)}1],"a":2}`, /^duplicate member "a" at character \d+$/],
    ['a text that ends early', `[${'"xxxxxxxx",'.repeat(9_000)}`, /^unexpected end/],
    ['something after the document', `[${'"xxxxxxxx",'.repeat(9_000)}1] 2`, /^unexpected character after the document/],
    ['a number that would lose precision', `[${'1,'.repeat(40_000)}9007199254740993]`, /^integer beyond/],
  ])('refuses %s', async (_, text, message) => {
    expect(await problemOf(text)).toMatch(message)
  })

  it('accepts one member for 8 bytes of the longest document, and refuses more', async () => {
    const nested = (count: number) => `{"a":[[[[[${Array.from({ length: count }, () => '{}')}]]]]]}`

    expect(await problemOf(nested(MIB / 8 - 5), MIB)).toBeUndefined()
    expect(await problemOf(nested(MIB / 8), MIB)).toMatch(/^more than 131072 members at character \d+$/)
  })

  it('refuses more than 20,000 members of one object', async () => {
    const object = (count: number) => `[[[[[[{${Array.from({ length: count }, (_, n) => `"${n}":1`)}}]]]]]]`

    expect(await problemOf(object(20_000))).toBeUndefined()
    expect(await problemOf(object(20_001))).toMatch(/^more than 20000 members of one object/)
  })

  it('refuses more than 20,000 members on the first three levels, which a schema checks', async () => {
    const messages = (count: number) => JSON.stringify({ messages: Array.from({ length: count }, () => ({ id: 'm' })) })

    expect(await problemOf(messages(9_999))).toBeUndefined()
    expect(await problemOf(messages(10_000))).toMatch(/^more than 20000 members on the first 3 levels/)
  })

  it('refuses more than 20,000 members on the next two levels of one message, and not of all messages', async () => {
    const message = (count: number) => ({ parts: Array.from({ length: count }, () => ({ type: 'text' })) })

    expect(await problemOf(JSON.stringify({ messages: [message(10_000), message(10_000)] }))).toBeUndefined()
    expect(await problemOf(JSON.stringify({ messages: [message(10_001)] }))).toMatch(
      /^more than 20000 members on levels 4 and 5 of one element/,
    )
  })
})
