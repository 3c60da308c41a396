import { defineAgent, type RunContext } from '@perdure/core'
import { runAgent } from '@perdure/server-app/testing'
import { type generateText, stepCountIs, streamText, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { withFinish, withoutFinish } from './finish.fixture.ts'
import { chatAgent, durable } from './index.ts'
import { serverWith, userMessage } from './server.fixture.ts'
import { type ScriptedCall, scriptedModel } from './testing.ts'
import { shownBy } from './transcript.fixture.ts'

const look = tool({ inputSchema: z.object({ of: z.string() }), execute: ({ of }) => `saw ${of}` })
const INVALID = { toolName: 'look', input: { of: 1 } }

describe('the finish reason of a chat', () => {
  it.each([
    ['length', 'length', 'length'],
    ['content-filter', 'content-filter', 'content_filter'],
    ['stop', 'stop', 'stop'],
    ['other', 'other', 'stop'],
  ])('is that of the last answer of the model: %s', async (unified, shown, completion) => {
    const long = withFinish(scriptedModel(['It is']), { finishReason: { unified, raw: undefined } })
    const { chat, get } = await serverWith([chatAgent({ id: 'x', model: long })])
    const chunks = await chat('x', { id: 'c', messages: [userMessage('m', 'Hi')] })
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: shown })

    const body = { model: 'x', messages: [{ role: 'user', content: 'Hi' }] }
    const { choices } = await get<{ choices: readonly object[] }>('/openai/chat/completions', body)
    expect(choices).toMatchObject([{ finish_reason: completion }])
  })

  it('is other, as with the SDK alone, if the stream of the model ends without one', async () => {
    const model = withoutFinish(scriptedModel(['It is half']), 4)
    const alone = streamText({ model, prompt: 'Hi' })
    expect([await alone.text, await alone.finishReason]).toEqual(['It is ', 'other'])
    const { chat, get } = await serverWith([chatAgent({ id: 'x', model })])
    const chunks = await chat('x', { id: 'c', messages: [userMessage('m', 'Hi')] })
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'other' })
    const { items } = await get<{ readonly items: readonly { readonly id: string }[] }>('/runs')
    const log = await get<{ readonly items: readonly object[] }>(`/runs/${items[0]?.id}/events?order=asc&limit=50`)
    expect(log.items).toContainEqual(
      expect.objectContaining({ type: 'step.end', payload: expect.objectContaining({ finishReason: 'other' }) }),
    )
  })

  it('is that of an error, as with the SDK alone, if the stream of the model has nothing', async () => {
    const model = withoutFinish(scriptedModel(['It is half']), 1)
    const alone = streamText({ model, prompt: 'Hi', onError: () => undefined })
    await expect(alone.text).rejects.toThrow('No output generated')
    const { chat } = await serverWith([chatAgent({ id: 'x', model })])
    const chunks = await chat('x', { id: 'c', messages: [userMessage('m', 'Hi')] })
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'error' })
  })

  it('is not that of an earlier answer, or of a model inside a tool', async () => {
    const cut = withFinish(scriptedModel(['half']), { finishReason: { unified: 'length', raw: undefined } })
    const ask = tool({
      inputSchema: z.object({}),
      execute: async () => (await durable().generateText({ model: cut, prompt: 'Hi' })).text,
    })
    const model = scriptedModel([{ toolName: 'ask', input: {} }, 'Done.'])
    const { chat } = await serverWith([chatAgent({ id: 'x', model, tools: { ask } })])
    const chunks = await chat('x', { id: 'c', messages: [userMessage('m', 'Hi')] })
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' })
  })

  it('marks a response of OpenAI as incomplete', async () => {
    const cut = withFinish(scriptedModel(['It is']), { finishReason: { unified: 'length', raw: undefined } })
    const { get } = await serverWith([chatAgent({ id: 'x', model: cut })])
    expect(await get('/openai/responses', { model: 'x', input: 'Hi' })).toMatchObject({
      ...{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output_text: 'It is' },
    })
  })
})

type Options = Parameters<typeof generateText>[0]

const REPAIRS = {
  'no repair': undefined,
  'a repair that gives up': async () => null,
  'a repair that throws': async () => {
    throw new Error('no')
  },
  'a repair that stays invalid': async ({ toolCall }: { readonly toolCall: object }) => toolCall,
} as const

describe.each(Object.entries(REPAIRS))('an invalid tool call with %s', (_, experimental_repairToolCall) => {
  const optionsWith = (calls: ScriptedCall[]): Options =>
    ({
      model: scriptedModel([[INVALID, { toolName: 'look', input: { of: 'it' } }], 'Sorry.'], {
        onCall: (call) => calls.push(call),
      }),
      ...{ tools: { look }, prompt: 'Hi', stopWhen: stepCountIs(3), experimental_repairToolCall },
    }) as unknown as Options

  it.each(['generateText', 'streamText'] as const)('ends as failed, and its model is told: %s', async (call) => {
    const asked: ScriptedCall[] = []
    const run = async (_input: unknown, ctx: RunContext) => {
      const answer = durable(ctx)[call](optionsWith(asked) as never)
      return { text: await (await answer).text }
    }
    const ended = await runAgent(defineAgent({ id: 'x', run }), null)
    const tools = shownBy(ended).items.filter((item) => item.kind === 'tool')
    expect(tools).toMatchObject([
      { status: 'failed', isInvalid: true, error: { kind: 'invalid_input' }, args: { of: 1 } },
      { status: 'done', result: 'saw it' },
    ])
    expect(ended.events.filter(({ type }) => type === 'tool.result')).toHaveLength(1)
    expect(asked[1]?.toolResults).toHaveLength(2)
  })
})

describe('a call of a tool that does not exist', () => {
  it('ends as failed, also for an agent without tools', async () => {
    const model = scriptedModel([{ toolName: 'missing', input: {} }, 'Sorry.'])
    const run = (_: unknown, ctx: RunContext) => durable(ctx).generateText({ model, prompt: 'Hi' })
    const { items } = shownBy(await runAgent(defineAgent({ id: 'x', run }), null))
    expect(items).toMatchObject([{ kind: 'tool', status: 'failed', error: { kind: 'unknown_tool' } }])
  })
})

describe('an answer that ends with a tool call', () => {
  const model = scriptedModel([[{ text: 'I look. ' }, { toolName: 'look', input: { of: 'it' } }]])
  const asked = { model, tools: { look }, prompt: 'Hi' }
  const agentOfLoop = (ctx: RunContext) =>
    new (durable(ctx).ToolLoopAgent)({ model, tools: { look }, stopWhen: stepCountIs(1) })

  it.each<[string, (ctx: RunContext) => PromiseLike<{ readonly toolCalls: unknown }>]>([
    ['generateText', (ctx) => durable(ctx).generateText(asked)],
    ['generate of a ToolLoopAgent', (ctx) => agentOfLoop(ctx).generate({ prompt: 'Hi' })],
  ])('is returned as by the SDK alone, which throws only where the output is read: %s', async (_, call) => {
    const run = async (_input: unknown, ctx: RunContext) => {
      const answer = await call(ctx)
      return { text: (answer as { readonly text?: unknown }).text, toolCalls: answer.toolCalls }
    }
    const ended = await runAgent(defineAgent({ id: 'x', run }), null)
    expect(ended).toMatchObject({
      status: 'completed',
      result: { text: 'I look. ', toolCalls: [{ toolName: 'look', input: { of: 'it' } }] },
    })
  })

  it('completes the run that returns it with its text', async () => {
    const run = (_: unknown, ctx: RunContext) => durable(ctx).generateText(asked)
    expect(await runAgent(defineAgent({ id: 'x', run }), null)).toMatchObject({
      ...{ status: 'completed', result: { text: 'I look. ' } },
    })
  })
})
