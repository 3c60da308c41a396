import { createInMemoryStorage } from '@perdure/in-memory'
import * as sdk from 'ai'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { chatAgent, toolOptions } from './index.ts'
import { serverWith, userMessage } from './server.fixture.ts'
import { type ScriptedAnswer, type ScriptedCall, type ScriptedPart, scriptedModel } from './testing.ts'

const refund = sdk.tool({
  description: 'Refunds an order',
  inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
  execute: ({ orderId, amount }) => ({ refunded: amount, for: orderId }),
})
const lookUp = sdk.tool({
  inputSchema: z.object({ orderId: z.string() }),
  execute: ({ orderId }) => `found ${orderId}`,
})
const broken = sdk.tool({
  inputSchema: z.object({}),
  needsApproval: true,
  execute: (): string => {
    throw new Error('no till')
  },
})

const ask = (amount: number, orderId = 'A-1'): ScriptedPart => ({ toolName: 'refund', input: { orderId, amount } })
const look: ScriptedPart = { toolName: 'lookUp', input: { orderId: 'A-1' } }

interface Decision {
  readonly approved: boolean
  readonly reason?: string
}

interface Case {
  readonly settings: object
  /** The answers of the first turn; the second has one more. */
  readonly answers?: readonly ScriptedAnswer[]
  /** One for each request, in the order of the calls. Without one, the request expires. */
  readonly decisions: readonly (Decision | 'expired')[]
  /** The SDK 6 has no `toolApproval`. */
  readonly needs?: 7
}

const asking = (needsApproval: unknown, more: object = {}) => ({
  tools: { refund: { ...refund, needsApproval }, lookUp, ...more },
})
const deciding = (toolApproval: unknown) => ({ tools: { refund, lookUp }, toolApproval })
const isLarge = ({ amount }: { readonly amount: number }) => amount > 50

const YES: Decision = { approved: true }
const NO: Decision = { approved: false }
const NO_BECAUSE: Decision = { approved: false, reason: 'too much' }

const CASES: Readonly<Record<string, Case>> = {
  'needsApproval: true, granted': { settings: asking(true), decisions: [YES] },
  'needsApproval: true, granted with a reason': {
    settings: asking(true),
    decisions: [{ approved: true, reason: 'a good customer' }],
  },
  'needsApproval: true, denied': { settings: asking(true), decisions: [NO] },
  'needsApproval: true, denied with a reason': { settings: asking(true), decisions: [NO_BECAUSE] },
  'needsApproval: true, expired': { settings: asking(true), decisions: ['expired'] },
  'needsApproval: false': { settings: asking(false), decisions: [] },
  'a function needsApproval, granted': { settings: asking(isLarge), decisions: [YES] },
  'a function needsApproval, denied with a reason': { settings: asking(isLarge), decisions: [NO_BECAUSE] },
  'a function needsApproval, expired': { settings: asking(isLarge), decisions: ['expired'] },
  'a function needsApproval that does not ask': {
    settings: asking(isLarge),
    answers: [[{ text: 'One moment.' }, ask(10)], 'Bye.'],
    decisions: [],
  },
  'an asynchronous needsApproval, granted': { settings: asking(async () => true), decisions: [YES] },
  'the status user-approval, granted': {
    ...{ settings: deciding({ refund: 'user-approval' }), decisions: [YES], needs: 7 },
  },
  'the status user-approval, denied with a reason': {
    ...{ settings: deciding({ refund: 'user-approval' }), decisions: [NO_BECAUSE], needs: 7 },
  },
  'the status user-approval, expired': {
    ...{ settings: deciding({ refund: 'user-approval' }), decisions: ['expired'], needs: 7 },
  },
  'the status user-approval with a reason, granted': {
    ...{
      settings: deciding({ refund: { type: 'user-approval', reason: 'over the limit' } }),
      decisions: [YES],
      needs: 7,
    },
  },
  'the status not-applicable over needsApproval': {
    settings: { ...asking(true), toolApproval: { refund: 'not-applicable' } },
    ...{ decisions: [], needs: 7 },
  },
  'the status approved': { settings: deciding({ refund: 'approved' }), decisions: [], needs: 7 },
  'the status approved with a reason': {
    ...{ settings: deciding({ refund: { type: 'approved', reason: 'small' } }), decisions: [], needs: 7 },
  },
  'the status denied': { settings: deciding({ refund: 'denied' }), decisions: [], needs: 7 },
  'the status denied with a reason': {
    ...{ settings: deciding({ refund: { type: 'denied', reason: 'not on Sundays' } }), decisions: [], needs: 7 },
  },
  'a function for one tool, denied': {
    settings: deciding({ refund: (input: { amount: number }) => (isLarge(input) ? 'user-approval' : undefined) }),
    decisions: [NO],
    needs: 7,
  },
  'a function for all tools, granted': {
    settings: deciding(({ toolCall }: { toolCall: { toolName: string } }) =>
      toolCall.toolName === 'refund' ? 'user-approval' : undefined,
    ),
    ...{ decisions: [YES], needs: 7 },
  },
  'two in one answer, granted and denied': {
    settings: asking(true),
    answers: [[{ text: 'Two.' }, ask(80), ask(90, 'A-2')], 'Bye.'],
    decisions: [YES, NO_BECAUSE],
  },
  'two in one answer, denied and granted': {
    settings: asking(true),
    answers: [[ask(80), ask(90, 'A-2')], 'Bye.'],
    decisions: [NO_BECAUSE, YES],
  },
  'two in one answer, both granted': {
    settings: asking(true),
    answers: [[ask(80), ask(90, 'A-2')], 'Bye.'],
    decisions: [YES, YES],
  },
  'one before a tool that runs, granted': {
    settings: asking(true),
    answers: [[ask(80), look], 'Bye.'],
    decisions: [YES],
  },
  'one before a tool that runs, denied': {
    settings: asking(true),
    answers: [[ask(80), look], 'Bye.'],
    decisions: [NO_BECAUSE],
  },
  'one after a tool that runs, granted': {
    settings: asking(true),
    answers: [[look, ask(80)], 'Bye.'],
    decisions: [YES],
  },
  'one after a tool that runs, denied': {
    settings: asking(true),
    answers: [[look, ask(80)], 'Bye.'],
    decisions: [NO],
  },
  'one policy that denies beside one that asks': {
    settings: deciding({ refund: (input: { amount: number }) => (input.amount > 85 ? 'denied' : 'user-approval') }),
    answers: [[ask(80), ask(90, 'A-2'), look], 'Bye.'],
    ...{ decisions: [YES], needs: 7 },
  },
  'one in the second step': {
    settings: asking(true),
    answers: [[{ text: 'I look.' }, look], [{ text: 'I refund.' }, ask(80)], 'Bye.'],
    decisions: [YES],
  },
  'one in each of two steps': {
    settings: asking(true),
    answers: [ask(80), ask(90, 'A-2'), 'Bye.'],
    decisions: [NO_BECAUSE, YES],
  },
  'a tool that fails after its approval': {
    settings: asking(true, { broken }),
    answers: [{ toolName: 'broken', input: {} }, 'Bye.'],
    decisions: [YES],
  },
  'a tool with toModelOutput, granted': {
    settings: {
      tools: {
        refund: { ...refund, needsApproval: true, toModelOutput: () => ({ type: 'text', value: 'paid' }) },
        lookUp,
      },
    },
    decisions: [YES],
  },
  'a tool with toModelOutput, denied': {
    settings: {
      tools: {
        refund: { ...refund, needsApproval: true, toModelOutput: () => ({ type: 'text', value: 'paid' }) },
        lookUp,
      },
    },
    decisions: [NO_BECAUSE],
  },
  'an invalid call beside one that asks': {
    settings: asking(true),
    answers: [[{ toolName: 'lookUp', input: { orderId: 1 } }, ask(80)], 'Bye.'],
    decisions: [YES],
  },
}

const FIRST = 'Refund, please'
const SECOND = 'Thanks'

function modelOf({ answers = [ask(80), 'Bye.'] }: Case) {
  const calls: ScriptedCall[] = []
  return { calls, model: scriptedModel([...answers, 'Welcome.'], { onCall: (call) => calls.push(call) }) }
}

type Part = Readonly<Record<string, unknown>>
interface Message {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly parts: Part[]
}

/** The SDK in a route of its own: the page keeps the messages, and sends all of them with each message and decision. */
async function promptsOfSdk(program: Case): Promise<readonly Prompt[]> {
  const { calls, model } = modelOf(program)
  const agent = new sdk.ToolLoopAgent({ id: 'shop', model, ...program.settings } as never)
  const page: Message[] = []
  const tools = (program.settings as { readonly tools: sdk.ToolSet }).tools
  const answer = async () => {
    const messages = await sdk.convertToModelMessages(structuredClone(page) as never, { tools } as never)
    const streamed = await agent.stream({ messages } as never)
    const last = page.at(-1)
    const message = last?.role === 'assistant' ? (page.pop() as Message) : undefined
    const originalMessages = [...page, ...(message === undefined ? [] : [message])]
    // By default, version 6 hides the messages of errors from the page, and so from the model in later requests.
    const shown = isVersion7
      ? {}
      : { onError: (told: unknown) => (told instanceof Error ? told.message : String(told)) }
    const chunks = streamed.toUIMessageStream({ originalMessages, ...shown } as never)
    let newest = message
    const read = sdk.readUIMessageStream({ stream: chunks, ...(message === undefined ? {} : { message }) } as never)
    for await (const state of read) newest = state as unknown as Message
    page.push(newest as Message)
  }
  const decisions = [...program.decisions]
  page.push(userMessage('m-1', FIRST) as Message)
  await answer()
  for (;;) {
    const newest = page.at(-1) as Message
    const open = newest.parts.filter(({ state }) => state === 'approval-requested')
    if (open.length === 0) break
    const parts = newest.parts.map((part) => {
      if (part.state !== 'approval-requested') return part
      const decision = decisions.shift() as Decision | 'expired'
      // The SDK has no time limit; the page of an application would deny the call.
      const decided = decision === 'expired' ? { approved: false, reason: 'expired' } : decision
      return { ...part, state: 'approval-responded', approval: { ...(part.approval as object), ...decided } }
    })
    page.splice(-1, 1, { ...newest, parts })
    await answer()
  }
  expect(decisions).toEqual([])
  page.push(userMessage('m-2', SECOND) as Message)
  await answer()
  return calls.map(({ prompt }) => prompt)
}

interface Approval {
  readonly id: string
  readonly payload: unknown
}

/** Perdure: the page sends each message, and somebody decides. */
async function promptsOfPerdure(program: Case, restarts: boolean): Promise<readonly Prompt[]> {
  const { calls, model } = modelOf(program)
  const { tools, ...settings } = program.settings as { readonly tools: Readonly<Record<string, object>> }
  const isExpiring = program.decisions.includes('expired')
  const limited = (one: object) => (isExpiring ? toolOptions(one, { approval: { timeout: 20 } }) : one)
  const own = Object.fromEntries(Object.entries(tools).map(([name, one]) => [name, limited(one)]))
  const agent = chatAgent({ id: 'shop', model, tools: own, ...settings } as never) as never
  const storage = createInMemoryStorage()
  let server = await serverWith([agent], storage)
  const pending = () => server.get<{ readonly items: readonly Approval[] }>('/approvals?status=pending&order=asc')
  const isAtRest = async () => {
    const { items } = await server.get<{ readonly items: readonly { readonly status: string }[] }>('/runs?limit=10')
    return items.every(({ status }) => status === 'completed')
  }
  await server.chat('shop', { id: 'c', messages: [userMessage('m-1', FIRST)] })
  const decisions = [...program.decisions]
  while (decisions.length > 0) {
    if (decisions[0] === 'expired') {
      decisions.shift()
      continue
    }
    const items = await vi.waitFor(async () => {
      const { items } = await pending()
      expect(items.length).toBeGreaterThan(0)
      return items
    })
    if (restarts) {
      await server.stop()
      server = await serverWith([agent], storage)
    }
    for (const { id } of inOrder(items)) {
      const { approved, reason } = decisions.shift() as Decision
      await server.get(`/approvals/${id}/resolve`, { approved, ...(reason === undefined ? {} : { reason }) })
    }
  }
  await vi.waitFor(async () => expect(await isAtRest()).toBe(true), { timeout: 10_000 })
  await server.chat('shop', { id: 'c', messages: [userMessage('m-2', SECOND)] })
  return calls.map(({ prompt }) => prompt)
}

/** Requests of one answer, in the order of its calls. */
const inOrder = (items: readonly Approval[]) =>
  items.toSorted((one, other) => JSON.stringify(one.payload).localeCompare(JSON.stringify(other.payload)))

const isVersion7 = 'isStepCount' in sdk
const ALL = Object.entries(CASES).filter(([, { needs }]) => needs === undefined || isVersion7)

type Prompt = readonly { readonly role: string; readonly content: unknown }[]
interface Result {
  readonly type: string
  readonly toolCallId: string
  readonly output: { readonly type: string; readonly value?: unknown }
}

/**
 * A prompt of the SDK alone, without two differences that come from the way over the page:
 * - The SDK puts the results of calls that were approved behind those of the other calls, and in later turns in front of
 *   them again. With Perdure they are always in the order of the calls.
 * - The SDK tells the model about a denial as `execution-denied` at first, and as `error-text` from the next request on.
 *   With Perdure it stays `execution-denied`.
 * So each prompt of Perdure begins with the one before it, and the cache of the provider applies.
 */
function withoutPage(prompt: Prompt, reasons: readonly (string | undefined)[]): Prompt {
  const denied = ({ type, value }: Result['output']) =>
    type === 'error-text' && (value === 'Tool call execution denied.' || reasons.includes(value as string))
  return prompt.map((message, index) => {
    if (message.role !== 'tool') return message
    const calls = ((prompt[index - 1]?.content ?? []) as readonly Result[]).map(({ toolCallId }) => toolCallId)
    const results = (message.content as readonly Result[])
      .toSorted((one, other) => calls.indexOf(one.toolCallId) - calls.indexOf(other.toolCallId))
      .map((result) => {
        if (!denied(result.output)) return result
        const reason = reasons.find((one) => one === result.output.value)
        return { ...result, output: { type: 'execution-denied', ...(reason === undefined ? {} : { reason }) } }
      })
    return { ...message, content: results }
  })
}

describe.each([
  ['', false],
  [', decided after a restart', true],
] as const)('the model gets the prompts of the SDK alone%s', (_, restarts) => {
  it.each(ALL)('with %s', async (_name, program) => {
    const own = await promptsOfPerdure(program, restarts)
    const reasons = [...program.decisions.map((one) => (one === 'expired' ? one : one.reason)), 'not on Sundays']
    expect(own).toEqual((await promptsOfSdk(program)).map((prompt) => withoutPage(prompt, reasons)))
    for (const [index, prompt] of own.slice(1).entries()) {
      const before = own[index] as Prompt
      expect(prompt.slice(0, before.length)).toEqual(before)
    }
  })
})
