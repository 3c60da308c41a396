import { defineAgent } from '@perdure/core'
import { runAgent, type TestRun } from '@perdure/server-app/testing'
import { stepCountIs, type ToolSet, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { durable } from '../index.ts'
import {
  type RecordedModelOptions,
  type RecordingSource,
  recordedModel,
  recordedTools,
  scriptedModel,
} from '../testing.ts'

interface Shop {
  readonly model: unknown
  readonly prompt?: string
  readonly tools?: ToolSet
  readonly temperature?: number
}

const find = () =>
  tool({ description: 'Finds', inputSchema: z.object({ of: z.string() }), execute: ({ of }) => `saw ${of}` })
const pay = () => tool({ description: 'Pays', inputSchema: z.object({ euro: z.number() }), execute: () => 'paid' })
const TOOLS = { find: find(), pay: pay() }

const run = ({ model, prompt = 'Hi', tools = TOOLS, ...settings }: Shop): Promise<TestRun> =>
  runAgent(
    defineAgent({
      id: 'shop',
      run: (_, ctx) =>
        durable(ctx).generateText({ model: model as never, prompt, tools, stopWhen: stepCountIs(5), ...settings }),
    }),
  ) as Promise<TestRun>

const ANSWERS = [{ toolName: 'find', input: { of: 'a' } }, { toolName: 'pay', input: { euro: 3 } }, 'Done.'] as const
const original = () => run({ model: scriptedModel(ANSWERS) })

/** Replays with a change, and returns the first divergence. */
async function divergenceOf(change: Omit<Shop, 'model'>, options: RecordedModelOptions = {}) {
  const recorded = await original()
  const model = recordedModel(recorded, options)
  const again = await run({ ...change, model, tools: recordedTools(recorded, change.tools ?? TOOLS) })
  expect(again.status).toBe('failed')
  expect(model.divergences).toHaveLength(1)
  return model.divergences[0]
}

describe('recordedModel', () => {
  it('names a changed prompt at its first message', async () => {
    expect(await divergenceOf({ prompt: 'Ho' })).toEqual({ seq: 1, part: 'prompt', detail: 'message 1 (user)' })
  })

  it('names a tool that was added, one that was removed, and another order', async () => {
    const { find, pay } = TOOLS
    const detailOf = async (tools: ToolSet) => (await divergenceOf({ tools }))?.detail
    expect(await detailOf({ find, pay, refund: pay })).toBe('the tool refund is new')
    expect(await detailOf({ find })).toBe('the tool pay is missing')
    expect(await divergenceOf({ tools: { pay, find } })).toMatchObject({ part: 'tool order' })
  })

  it('names a tool whose schema has changed, and one whose description has', async () => {
    const cents = tool({
      description: 'Pays',
      inputSchema: z.object({ euro: z.number(), cents: z.number() }),
      execute: () => 'paid',
    })
    const other = { ...pay(), description: 'Pays back' } as ToolSet[string]
    expect(await divergenceOf({ tools: { find: find(), pay: cents } })).toEqual({
      ...{ seq: 1, part: 'schema', detail: 'the input schema of the tool pay' },
    })
    expect(await divergenceOf({ tools: { find: find(), pay: other } })).toMatchObject({ part: 'tool' })
  })

  it('names another model, and other settings', async () => {
    const other = scriptedModel(['no'], { modelId: 'larger' })
    expect(await divergenceOf({}, { model: other })).toEqual({
      ...{ seq: 1, part: 'model', detail: 'scripted/larger instead of scripted/scripted' },
    })
    expect(await divergenceOf({ temperature: 1 })).toMatchObject({ part: 'settings' })
  })

  it('names a changed order of calls', async () => {
    const order = (first: string, second: string) => async (model: unknown) =>
      runAgent(
        defineAgent({
          id: 'two',
          async run(_, ctx) {
            const ask = async (prompt: string) =>
              (await durable(ctx).generateText({ model: model as never, prompt })).text
            return [await ask(first), await ask(second)]
          },
        }),
      ) as Promise<TestRun>
    const recorded = await order('one', 'two')(scriptedModel(({ text }) => `about ${text}`))
    expect(recorded.result).toEqual(['about one', 'about two'])

    const model = recordedModel(recorded)
    expect((await order('two', 'one')(model)).status).toBe('failed')
    expect(model.divergences).toEqual([
      { seq: 1, part: 'order', detail: 'the code asks what the recorded call 2 asks' },
    ])
    const byRequest = recordedModel(recorded, { match: 'request' })
    expect((await order('two', 'one')(byRequest)).result).toEqual(['about two', 'about one'])
  })

  it('says in the error of the run where it diverges', async () => {
    const again = await run({ model: recordedModel(await original()), prompt: 'Ho' })
    expect(again.outcome.error?.message).toMatch(
      'the run diverges from its recording at the recorded call 1: prompt: message 1 (user)',
    )
  })

  it('asks the real model, or uses the stub, where it diverges', async () => {
    const recorded = await original()
    const real = scriptedModel(() => 'The real one.')
    const asked = recordedModel(recorded, { model: real, onDivergence: 'real' })
    expect((await run({ model: asked, prompt: 'Ho' })).result).toEqual({ text: 'The real one.' })
    const stubbed = recordedModel(recorded, { onDivergence: 'stub', stub: 'A stub.' })
    expect((await run({ model: stubbed, prompt: 'Ho' })).result).toEqual({ text: 'A stub.' })
  })

  it('names a call behind the last recorded one', async () => {
    const short = await run({ model: scriptedModel(['Done.']) })
    const model = recordedModel([short])
    await run({ model })
    await run({ model })
    expect(model.divergences).toMatchObject([{ part: 'end' }])
  })

  it('refuses what is no recording, and options that cannot work', async () => {
    expect(() => recordedModel({} as RecordingSource)).toThrow('this is not a recording')
    const recorded = await original()
    expect(() => recordedModel(recorded, { onDivergence: 'real' })).toThrow('needs the option model')
    expect(() => recordedModel(recorded, { onDivergence: 'stub' })).toThrow('needs the option stub')
    const events = recorded.events.map(({ type, payload }) => ({
      type,
      payload: { ...(payload as object), request: undefined },
    }))
    expect(() => recordedModel({ ...recorded, events }, { match: 'request' })).toThrow("use 'position'")
  })
})

describe('recordedTools', () => {
  it('names another tool, other arguments, and a call that is not recorded', async () => {
    const recorded = await original()
    const detailOf = async (answers: Parameters<typeof scriptedModel>[0]) => {
      const said: string[] = []
      const onDiverged = ({ part, detail }: { readonly part: string; readonly detail: string }) =>
        void said.push(`${part}: ${detail}`)
      await run({ model: scriptedModel(answers), tools: recordedTools(recorded, TOOLS, { onDiverged }) })
      return said[0]
    }
    expect(await detailOf([{ toolName: 'pay', input: { euro: 3 } }, 'x'])).toBe('tool call: pay instead of find')
    expect(await detailOf([{ toolName: 'find', input: { of: 'b' } }, 'x'])).toBe(
      'arguments: find({"of":"b"}) instead of {"of":"a"}',
    )
    expect(await detailOf([{ toolName: 'find', input: { of: 'b' }, toolCallId: 'new' }, 'x'])).toBe(
      'tool call: find({"of":"b"}) is not in the recording',
    )
  })

  it('runs the real tool, or uses the stub, for a call that is not recorded', async () => {
    const recorded = await original()
    const model = () => scriptedModel([{ toolName: 'find', input: { of: 'b' } }, 'x'])
    const resultOf = ({ events }: TestRun) =>
      events.flatMap(({ type, payload }) =>
        type === 'tool.execute.end' ? [(payload as { readonly result: unknown }).result] : [],
      )[0]
    const real = await run({ model: model(), tools: recordedTools(recorded, TOOLS, { onDivergence: 'real' }) })
    expect(resultOf(real)).toBe('saw b')
    const stub = await run({
      model: model(),
      tools: recordedTools(recorded, TOOLS, { onDivergence: 'stub', stub: () => 'stub' }),
    })
    expect(resultOf(stub)).toBe('stub')
  })
})
