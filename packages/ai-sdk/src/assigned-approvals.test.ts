import type { AgentDefinition } from '@perdure/core'
import { runAgent } from '@perdure/server-app/testing'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { toModelMessages } from './agents/model-messages.ts'
import { chatAgent, toolCallOf, toolOptions } from './index.ts'
import { type ScriptedCall, scriptedModel } from './testing.ts'
import { plainFailure } from './tools/failure-text.ts'

const seen: unknown[] = []
const INPUT = z.object({ orderId: z.string(), amount: z.number().max(100), note: z.string().default('none') })
const refund = tool({
  description: 'Refunds an order',
  inputSchema: INPUT,
  execute: (input, options) => {
    seen.push([input, toolCallOf(options).approval])
    if (input.amount === 13) throw new Error('unlucky')
    return { refunded: input.amount }
  },
})
const ASKED = { orderId: 'A-1', amount: 80 }
const NOTE = 'The person who approved this call changed its arguments. It was executed with'

async function shop(approval: object, over: object = {}) {
  seen.length = 0
  const calls: ScriptedCall[] = []
  const model = scriptedModel([[{ toolName: 'refund', input: ASKED }], 'Bye.'], { onCall: (call) => calls.push(call) })
  const tools = { refund: toolOptions({ ...refund, ...over }, { approval }) }
  const agent = chatAgent({ id: 'shop', model, tools, toolApproval: { refund: 'user-approval' } } as never)
  const run = await runAgent(agent as AgentDefinition, { text: 'Refund, please' })
  const told = () => {
    const message = calls.at(-1)?.prompt.findLast(({ role }) => role === 'tool')
    return ((message?.content ?? []) as readonly { readonly output: unknown }[]).map(({ output }) => output)
  }
  return { run, told }
}

describe('an approval of a tool', () => {
  it('is assigned by the options of the tool', async () => {
    const { run } = await shop({ assignee: 'staff' })
    expect(run.approvals).toMatchObject([{ name: 'refund', assignee: 'staff' }])
    expect(run.approvals[0]).not.toHaveProperty('argsSchema', expect.anything())
  })

  it('shows the schema of the tool if its input may be changed', async () => {
    const { run } = await shop({ editable: true })
    expect(run.approvals).toMatchObject([
      {
        args: { ...ASKED, note: 'none' },
        argsSchema: { type: 'object', properties: { amount: { type: 'number', maximum: 100 } } },
      },
    ])
  })

  it('executes the tool with the changed input, and tells the model', async () => {
    const { run, told } = await shop({ editable: true })

    const ended = await run.decide('refund', { approved: true, args: { orderId: 'A-1', amount: 40 } })

    expect(ended.result).toEqual({ text: 'Bye.' })
    expect(seen).toEqual([
      [
        { orderId: 'A-1', amount: 40, note: 'none' },
        { by: 'decider', at: expect.any(Date), edited: true },
      ],
    ])
    const value = `${NOTE} {"orderId":"A-1","amount":40}.\n{"refunded":40}`
    expect(told()).toEqual([{ type: 'text', value }])
  })

  it('executes the tool as asked for without a change', async () => {
    const { run, told } = await shop({ editable: true })
    await run.decide('refund', { approved: true })
    expect(seen).toMatchObject([[ASKED, { by: 'decider', edited: false }]])
    expect(told()).toEqual([{ type: 'json', value: { refunded: 80 } }])
  })

  it('refuses an input that does not match the schema of the tool, and stays open', async () => {
    const { run } = await shop({ editable: true })
    await expect(run.decide('refund', { approved: true, args: { orderId: 'A-1', amount: 101 } })).rejects.toMatchObject(
      {
        code: 'validation-failed',
        message: expect.stringContaining('amount'),
      },
    )
    const ended = await run.decide('refund', { approved: true, args: { orderId: 'A-1', amount: 100 } })
    expect(ended.result).toEqual({ text: 'Bye.' })
  })

  it('does not execute the tool with an input that only its own code refuses', async () => {
    const inputSchema = INPUT.refine(({ amount }) => amount !== 41, 'not 41')
    const { run, told } = await shop({ editable: true }, { inputSchema })
    await run.decide('refund', { approved: true, args: { orderId: 'A-1', amount: 41 } })
    expect(seen).toEqual([])
    expect(told()).toMatchObject([{ type: 'error-text', value: expect.stringContaining('not 41') }])
  })

  it('tells the model about the change of a call that failed', async () => {
    const { run, told } = await shop({ editable: true })
    await run.decide('refund', { approved: true, args: { orderId: 'A-1', amount: 13 } })
    expect(told()).toMatchObject([{ type: 'error-text', value: expect.stringMatching(/executed with .*13.*unlucky/) }])
  })
})

describe('the prompt of a later turn', () => {
  const part = { type: 'tool', toolCallId: 'c', name: 'refund', input: ASKED, isDynamic: false } as const
  const outputsOf = async (more: object, tools = {}) => {
    const message = { id: 'm', role: 'assistant', content: null, createdAt: '', parts: [{ ...part, ...more }] } as never
    const prompt = await toModelMessages([message], {
      ...{ tools, convertDataPart: undefined, failureText: plainFailure },
      ...{ readFile: async () => undefined, linkTo: (url) => new URL(url) },
    })
    const content = (prompt[1]?.content ?? []) as unknown as readonly { readonly output: unknown }[]
    return content.map(({ output }) => output)
  }
  const done = { outcome: { status: 'done', result: { refunded: 40 } }, editedInput: { amount: 40 } }

  it('tells the same about changed arguments as the turn that made the call', async () => {
    expect(await outputsOf(done)).toEqual([{ type: 'text', value: `${NOTE} {"amount":40}.\n{"refunded":40}` }])
    expect(await outputsOf({ ...done, outcome: { status: 'failed', error: 'no' } })).toEqual([
      { type: 'error-text', value: `${NOTE} {"amount":40}. no` },
    ])
  })

  it('keeps the content that the tool makes of its result', async () => {
    const toModelOutput = () => ({ type: 'content', value: [{ type: 'text', text: 'done' }] })
    expect(await outputsOf(done, { refund: { toModelOutput } })).toEqual([
      {
        type: 'content',
        value: [
          { type: 'text', text: `${NOTE} {"amount":40}.` },
          { type: 'text', text: 'done' },
        ],
      },
    ])
  })
})
