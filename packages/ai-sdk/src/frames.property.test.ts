import * as ai from 'ai'
import { dynamicTool, stepCountIs, streamText, tool } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { chatAgent } from './index.ts'
import { serverWith, type UiChunk, userMessage } from './server.fixture.ts'
import { type ScriptedAnswer, type ScriptedPart, scriptedModel } from './testing.ts'

const VERSION = 'isStepCount' in ai ? 7 : 6
const inputSchema = z.object({ of: z.string() })

const tools = {
  look: tool({ inputSchema, execute: ({ of }) => ({ seen: of }) }),
  titled: tool({ title: 'Looks closer', inputSchema, execute: ({ of }) => `closer: ${of}` }),
  nothing: tool({ inputSchema, execute: () => undefined }),
  found: dynamicTool({ inputSchema, execute: async (input) => [input] }),
}

const words = fc.array(fc.constantFrom('a', 'red', 'scarf', 'is', 'here.', '\n', 'ü'), { minLength: 1, maxLength: 5 })
const text = words.map((all) => all.join(' '))

const said: fc.Arbitrary<ScriptedPart> = fc.oneof(
  { weight: 4, arbitrary: text.map((one) => ({ text: one })) },
  { weight: 2, arbitrary: text.map((one) => ({ reasoning: one })) },
  fc.nat(9).map((n) => ({ url: `https://example.com/${n}`, title: `Page ${n}` })),
  fc.nat(9).map((n) => ({ url: `https://example.com/${n}` })),
  fc.constantFrom('iVBORw0KGgo=', 'AAAA').map((data) => ({ mediaType: 'image/png', data })),
)
const called: fc.Arbitrary<ScriptedPart> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...Object.keys(tools)), text)
      .map(([toolName, of]) => ({ toolName, input: { of } })),
  },
  fc
    .tuple(fc.constantFrom(...Object.keys(tools), 'missing'), fc.constantFrom({}, { of: 1 }))
    .map(([toolName, input]) => ({ toolName, input })),
)

/** Answers that call tools, and one that ends the turn. */
const script: fc.Arbitrary<readonly ScriptedAnswer[]> = fc
  .tuple(
    fc.array(
      fc
        .tuple(fc.array(said, { maxLength: 3 }), fc.array(called, { minLength: 1, maxLength: 3 }))
        .map(([before, calls]) => [...before, ...calls]),
      { maxLength: 3 },
    ),
    fc.array(said, { minLength: 1, maxLength: 4 }),
  )
  .map(([steps, last]) => [...steps, [...last, { text: 'Bye.' }]])

/**
 * The chunks with the errors of invalid calls right after their inputs: the SDK parses a call while the model writes the
 * next one, and a durable model once the answer is recorded.
 */
function inOrder(chunks: readonly UiChunk[]): readonly UiChunk[] {
  const invalid = new Set(chunks.flatMap(({ type, toolCallId }) => (type === 'tool-input-error' ? [toolCallId] : [])))
  const isError = ({ type, toolCallId }: UiChunk) => type.endsWith('-error') && invalid.has(toolCallId)
  const errors = Map.groupBy(chunks.filter(isError), ({ toolCallId }) => toolCallId)
  const others = chunks.filter((chunk) => !isError(chunk))
  return others.flatMap((chunk, index) => {
    const isLast = others.findLastIndex(({ toolCallId }) => toolCallId === chunk.toolCallId) === index
    return [chunk, ...(isLast ? (errors.get(chunk.toolCallId) ?? []) : [])]
  })
}

/** The chunks with ids of their own, and without what only this server adds. */
function comparable(chunks: readonly UiChunk[]): readonly object[] {
  const ids = new Map<unknown, string>()
  const idOf = (id: unknown) => {
    if (!ids.has(id)) ids.set(id, `id-${ids.size + 1}`)
    return ids.get(id)
  }
  return chunks.flatMap(({ messageMetadata: _, messageId: __, id, sourceId, ...given }) => {
    // A call of a tool that does not exist is dynamic here, and static in some chunks of the SDK.
    const { dynamic, ...rest } = given
    const chunk = rest.toolName === 'missing' || dynamic === undefined ? rest : given
    if (chunk.type === 'message-metadata') return []
    return [
      {
        ...chunk,
        ...('errorText' in chunk ? { errorText: 'hidden' } : {}),
        ...(id === undefined ? {} : { id: idOf(`${chunk.type.split('-')[0]} ${id}`) }),
        ...(sourceId === undefined ? {} : { sourceId: idOf(`source ${sourceId}`) }),
      },
    ]
  })
}

/** What the SDK alone sends to a page. */
async function sdkChunks(answers: readonly ScriptedAnswer[]): Promise<readonly UiChunk[]> {
  const streamed = streamText({ model: scriptedModel(answers), tools, prompt: 'Hi', stopWhen: stepCountIs(20) })
  const chunks: UiChunk[] = []
  for await (const chunk of streamed.toUIMessageStream({ sendSources: true })) chunks.push(chunk as UiChunk)
  return JSON.parse(JSON.stringify(chunks)) as readonly UiChunk[]
}

/** Blocks of one answer have ids that another answer of the SDK repeats. */
function withStepIds(chunks: readonly UiChunk[]): readonly UiChunk[] {
  let step = 0
  return chunks.map((chunk) => {
    if (chunk.type === 'start-step') step++
    return chunk.id === undefined ? chunk : { ...chunk, id: `${step}.${chunk.id}` }
  })
}

describe(`the chunks for version ${VERSION} of the SDK`, () => {
  it('equal those of toUIMessageStream for the same answers of the model, except for ids and metadata', async () => {
    const scripts = new Map<string, readonly ScriptedAnswer[]>()
    const model = scriptedModel(({ text: key, turn }) => scripts.get(key)?.[turn] ?? 'no script')
    const { chat } = await serverWith([chatAgent({ id: 'shop', model, tools })])
    await fc.assert(
      fc.asyncProperty(script, async (answers) => {
        const key = `script ${scripts.size + 1}`
        scripts.set(key, answers)
        const chunks = await chat('shop', { id: key, messages: [userMessage(`m-${key}`, key)] }, VERSION)
        expect(comparable(inOrder(chunks))).toEqual(comparable(inOrder(withStepIds(await sdkChunks(answers)))))
      }),
      process.env.PROPERTY_RUNS === undefined ? { numRuns: 50 } : {},
    )
  })
})
