import { defineAgent, type RunContext } from '@perdure/core'
import { runAgent } from '@perdure/server-app/testing'
import { stepCountIs, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { withFinish } from './finish.fixture.ts'
import { durable } from './index.ts'
import { scriptedModel } from './testing.ts'

type Model = ReturnType<typeof scriptedModel>

const USAGE = {
  inputTokens: { total: 100, noCache: 30, cacheRead: 70, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
}

/** A model whose provider has read 70 of 100 tokens from its cache. */
const cachingModel = (): Model =>
  withFinish(
    scriptedModel(() => 'Cached.'),
    { usage: USAGE },
  )

const CALLS: Readonly<Record<string, (ctx: RunContext, model: Model) => PromiseLike<unknown>>> = {
  generateText: (ctx, model) => durable(ctx).generateText({ model, prompt: 'Hi' }),
  streamText: (ctx, model) => durable(ctx).streamText({ model, prompt: 'Hi' }).text,
  'generateText in a step': (ctx, model) =>
    ctx.step('ask', async () => (await durable(ctx).generateText({ model, prompt: 'Hi' })).text),
  'streamText in a step': (ctx, model) =>
    ctx.step('ask', async () => durable(ctx).streamText({ model, prompt: 'Hi' }).text),
  'generateText in a tool': (ctx, model) => {
    const ask = tool({
      inputSchema: z.object({}),
      execute: async () => (await durable().generateText({ model, prompt: 'Hi' })).text,
    })
    const outer = scriptedModel([{ toolName: 'ask', input: {} }, 'Done.'])
    return durable(ctx).generateText({ model: outer, tools: { ask }, prompt: 'Hi', stopWhen: stepCountIs(3) })
  },
}

describe('the usage of a model call', () => {
  it.each(Object.entries(CALLS))('has the cached input tokens: %s', async (_, call) => {
    const agent = defineAgent({ id: 'cached', run: async (_, ctx) => void (await call(ctx, cachingModel())) })
    const { events } = await runAgent(agent, null)
    expect(events.filter(({ type }) => type === 'usage').map(({ payload }) => payload)).toContainEqual(
      expect.objectContaining({ inputTokens: 100, cachedInputTokens: 70, outputTokens: 5 }),
    )
  })
})
