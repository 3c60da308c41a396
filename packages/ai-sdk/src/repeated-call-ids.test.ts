import { defineAgent } from '@perdure/core'
import { runAgent } from '@perdure/server-app/testing'
import { stepCountIs, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { chatAgent, durable } from './index.ts'
import { serverWith, userMessage } from './server.fixture.ts'
import { type ScriptedAnswer, type ScriptedCall, scriptedModel } from './testing.ts'

const look = tool({ inputSchema: z.object({ of: z.string() }), execute: ({ of }) => `saw ${of}` })

const call = (of: string) => ({ toolName: 'look', input: { of }, toolCallId: 'call_0' })
const ANSWERS: readonly ScriptedAnswer[] = [call('a'), call('b'), [call('c'), call('d')], 'Done']

const recorded = (prompts: ScriptedCall[]) => scriptedModel(ANSWERS, { onCall: (asked) => prompts.push(asked) })

/** The results that a prompt has for the calls before them. */
function pairsIn(asked: ScriptedCall | undefined): readonly (readonly [string, unknown])[] {
  const parts = ((asked?.prompt ?? []) as readonly { readonly content: unknown }[]).flatMap(({ content }) =>
    Array.isArray(content) ? (content as readonly PromptPart[]) : [],
  )
  const calls = new Map(parts.flatMap((part) => (part.type === 'tool-call' ? [[part.toolCallId, part.input]] : [])))
  return parts.flatMap(({ type, toolCallId, output }) => {
    if (type !== 'tool-result') return []
    const { of } = calls.get(toolCallId) as { readonly of: string }
    return [[of, output.value] as const]
  })
}

interface PromptPart {
  readonly type: string
  readonly toolCallId: string
  readonly input?: unknown
  readonly output: { readonly value: unknown }
}

const PAIRS = ['a', 'b', 'c', 'd'].map((of) => [of, `saw ${of}`])

describe('a model that numbers the tool calls of each answer from 0', () => {
  it('has each call of a chat shown with its own arguments and result', async () => {
    const prompts: ScriptedCall[] = []
    const model = recorded(prompts)
    const { chat } = await serverWith([chatAgent({ id: 'x', model, tools: { look } })])
    const chunks = await chat('x', { id: 'c', messages: [userMessage('m', 'Hi')] })

    const inputs = chunks.filter(({ type }) => type === 'tool-input-available')
    const outputs = new Map(
      chunks.flatMap((one) => (one.type === 'tool-output-available' ? [[one.toolCallId, one.output]] : [])),
    )
    expect(inputs.map(({ toolCallId, input }) => [(input as { of: string }).of, outputs.get(toolCallId)])).toEqual(
      PAIRS,
    )
    expect(new Set(inputs.map(({ toolCallId }) => toolCallId)).size).toBe(4)
    expect(pairsIn(prompts.at(-1))).toEqual(PAIRS)
  })

  it.each(['generateText', 'streamText'] as const)(
    'pairs calls and results of %s, also after a wait',
    async (method) => {
      const prompts: ScriptedCall[] = []
      const asking = { ...look, needsApproval: ({ of }: { of: string }) => of === 'b' } as typeof look
      const agent = defineAgent({
        id: 'x',
        async run(_, ctx) {
          const settings = { model: recorded(prompts), prompt: 'Hi', tools: { look: asking }, stopWhen: stepCountIs(9) }
          return { text: await (await durable(ctx)[method](settings)).text }
        },
      })
      const asked = await runAgent(agent)
      const run = await asked.decide('look', { approved: true })
      expect([run.status, prompts.length]).toEqual(['completed', 4])
      expect(pairsIn(prompts.at(-1))).toEqual(PAIRS)
    },
  )
})
