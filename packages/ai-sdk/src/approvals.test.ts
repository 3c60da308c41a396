import type { AgentDefinition } from '@perdure/core'
import { runAgent, type TestRun } from '@perdure/server-app/testing'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { chatAgent, toolOptions } from './index.ts'
import { type ScriptedAnswer, type ScriptedCall, scriptedModel } from './testing.ts'
import { shownBy } from './transcript.fixture.ts'

const refunds: string[] = []
const refund = tool({
  description: 'Refunds an order',
  inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
  execute: ({ orderId, amount }) => {
    refunds.push(orderId)
    return `refunded ${amount}`
  },
})
const ask = (...amounts: readonly number[]): ScriptedAnswer =>
  amounts.map((amount, index) => ({ toolName: 'refund', input: { orderId: `A-${index + 1}`, amount } }))

/** What the model was told about its tool calls: the content of the newest message of tools. */
function toldBy({ prompt }: ScriptedCall): readonly unknown[] {
  const message = prompt.findLast(({ role }) => role === 'tool')
  const content = (message?.content ?? []) as readonly { readonly output: unknown }[]
  return content.map(({ output }) => output)
}

/** Runs a shop with these settings to its first rest. */
async function shop(settings: object, answers: readonly ScriptedAnswer[] = [ask(80), 'Bye.']) {
  refunds.length = 0
  const calls: ScriptedCall[] = []
  const model = scriptedModel(answers, { onCall: (call) => calls.push(call) })
  const agent = chatAgent({ id: 'shop', model, tools: { refund }, ...settings } as never) as AgentDefinition
  const run: TestRun = await runAgent(agent, { text: 'Refund, please' })
  return { run, calls, told: () => toldBy(calls.at(-1) as ScriptedCall) }
}

const asking = (needsApproval: unknown) => ({ tools: { refund: { ...refund, needsApproval } } })
const denied = (reason?: string) => ({ type: 'execution-denied', ...(reason === undefined ? {} : { reason }) })

describe('an approval', () => {
  it.each<[string, object, string]>([
    ['needsApproval: true', asking(true), 'Refunds an order'],
    ['a function needsApproval', asking(({ amount }: { amount: number }) => amount > 50), 'Refunds an order'],
    ['an asynchronous needsApproval', asking(async () => true), 'Refunds an order'],
    ['a status of toolApproval', { toolApproval: { refund: 'user-approval' } }, 'Refunds an order'],
    [
      'a status with a reason',
      { toolApproval: { refund: { type: 'user-approval', reason: 'over the limit' } } },
      'Refunds an order (over the limit)',
    ],
    [
      'a function for one tool',
      { toolApproval: { refund: ({ amount }: { amount: number }) => (amount > 50 ? 'user-approval' : undefined) } },
      'Refunds an order',
    ],
    [
      'a function for all tools',
      {
        toolApproval: ({ toolCall }: { toolCall: { toolName: string; input: { amount: number } } }) =>
          toolCall.toolName === 'refund' && toolCall.input.amount > 50 ? 'user-approval' : undefined,
      },
      'Refunds an order',
    ],
    [
      'toolApproval over needsApproval',
      { ...asking(false), toolApproval: { refund: 'user-approval' } },
      'Refunds an order',
    ],
  ])('is asked for by %s', async (_, settings, title) => {
    const { run, told } = await shop(settings)
    expect([run.status, run.outcome.error, refunds]).toEqual(['suspended', undefined, []])
    expect(run.approvals).toMatchObject([{ name: 'refund', title, payload: { orderId: 'A-1', amount: 80 } }])

    const ended = await run.decide('refund', { approved: true })
    expect([ended.result, refunds, told()]).toEqual([
      { text: 'Bye.' },
      ['A-1'],
      [{ type: 'text', value: 'refunded 80' }],
    ])
  })

  it.each<[string, object]>([
    ['no setting', {}],
    ['needsApproval: false', asking(false)],
    ['a function that does not need it', asking(() => false)],
    ['the status not-applicable', { toolApproval: { refund: 'not-applicable' } }],
    ['the status approved', { ...asking(true), toolApproval: { refund: 'approved' } }],
    ['a function that approves with a reason', { toolApproval: () => ({ type: 'approved', reason: 'small' }) }],
    ['another tool', { toolApproval: { other: 'user-approval' } }],
  ])('is not asked for with %s', async (_, settings) => {
    const { run } = await shop(settings)
    expect([run.outcome.error, run.result, refunds]).toEqual([undefined, { text: 'Bye.' }, ['A-1']])
  })

  it.each<[string, object, object]>([
    ['with its reason', { approved: false, reason: 'too much' }, denied('too much')],
    ['without a reason', { approved: false }, denied()],
  ])('that is denied reaches the model %s', async (_, decision, output) => {
    const { run, told } = await shop(asking(true))
    const ended = await run.decide('refund', decision as { approved: boolean })
    expect([ended.result, refunds, told()]).toEqual([{ text: 'Bye.' }, [], [output]])
    expect(shownBy(ended).items).toMatchObject([{ kind: 'tool', status: 'denied' }, {}, { kind: 'text' }])
  })

  it('that nobody decides expires', async () => {
    const tools = { refund: toolOptions({ ...refund, needsApproval: true }, { approval: { timeout: '1h' } }) }
    const { run, told } = await shop({ tools })
    const ended = await run.advance('2h')
    expect([ended.result, refunds, told()]).toEqual([{ text: 'Bye.' }, [], [denied('expired')]])
  })

  it.each<[string, unknown, object]>([
    ['denied', 'denied', denied()],
    ['denied with a reason', { type: 'denied', reason: 'not on Sundays' }, denied('not on Sundays')],
  ])('is not asked for when the policy says %s: the model is told', async (_, status, output) => {
    const { run, told } = await shop({ toolApproval: { refund: status } })
    expect([run.outcome.error, run.result, refunds, told()]).toEqual([undefined, { text: 'Bye.' }, [], [output]])
    expect(shownBy(run).items).toMatchObject([{ kind: 'tool', status: 'denied' }, { kind: 'text' }])
  })

  it('keeps what toModelOutput of the tool says', async () => {
    const own = { ...refund, needsApproval: true, toModelOutput: () => ({ type: 'text', value: 'paid' }) }
    const approved = await shop({ tools: { refund: own } })
    await approved.run.decide('refund', { approved: true })
    expect(approved.told()).toEqual([{ type: 'text', value: 'paid' }])
    const refused = await shop({ tools: { refund: own } })
    await refused.run.decide('refund', { approved: false, reason: 'no' })
    expect(refused.told()).toEqual([denied('no')])
  })

  it('asks about two calls of one answer, beside a tool that runs', async () => {
    const looked: string[] = []
    const lookUp = tool({ inputSchema: z.object({}), execute: () => void looked.push('looked') })
    const answers = [[...(ask(80, 90) as readonly []), { toolName: 'lookUp', input: {} }], 'Bye.']
    const { run, calls, told } = await shop(
      { tools: { refund, lookUp }, toolApproval: { refund: 'user-approval' } },
      answers,
    )
    expect([run.status, run.approvals.length, looked]).toEqual(['suspended', 2, ['looked']])
    const [first] = run.approvals
    const half = await run.decide('refund', { approved: true })
    expect(half.status).toBe('suspended')
    const ended = await half.decide('refund', { approved: false, reason: 'once is enough' })
    const approved = (first?.payload as { readonly orderId: string } | undefined)?.orderId
    expect([ended.result, refunds, looked, calls.length]).toEqual([{ text: 'Bye.' }, [approved], ['looked'], 2])
    expect(told()).toHaveLength(3)
    expect(told()).toContainEqual(denied('once is enough'))
  })

  it('decides once what a function decides', async () => {
    let decisions = 0
    const toolApproval = {
      refund: () => {
        decisions++
        return decisions === 1 ? 'user-approval' : 'denied'
      },
    }
    const { run } = await shop({ toolApproval })
    const ended = await run.decide('refund', { approved: true })
    expect([ended.result, refunds, decisions]).toEqual([{ text: 'Bye.' }, ['A-1'], 1])
  })

  it('passes the messages of the step to a policy', async () => {
    const seen: unknown[] = []
    const { run } = await shop({
      toolApproval: {
        refund: (_: unknown, options: { toolCallId: string; messages: unknown[] }) => void seen.push(options),
      },
    })
    expect(run.outcome.error).toBeUndefined()
    expect(seen).toMatchObject([{ toolCallId: 'call-1-1', messages: [{ role: 'user' }] }])
  })

  it('executes nothing when the policy fails', async () => {
    const toolApproval = () => {
      throw new Error('no database')
    }
    const { run, told } = await shop({ toolApproval })
    expect([run.result, refunds]).toEqual([{ text: 'Bye.' }, []])
    expect(told()).toMatchObject([{ type: 'error-text', value: expect.stringContaining('no database') }])
  })

  it('executes nothing for a status that does not exist', async () => {
    const { told } = await shop({ toolApproval: { refund: 'maybe' } })
    expect(refunds).toEqual([])
    expect(told()).toMatchObject([{ type: 'error-text', value: expect.stringContaining('"maybe"') }])
  })
})

describe('toolOptions', () => {
  it('asks with a title of its own', async () => {
    const own = toolOptions(
      { ...refund, needsApproval: true },
      { approval: { title: (input) => `Refund ${(input as { orderId: string }).orderId}?` } },
    )
    const { run } = await shop({ tools: { refund: own } })
    expect(run.approvals).toMatchObject([{ title: 'Refund A-1?' }])
  })

  it('repeats a tool that fails', async () => {
    let tries = 0
    const flaky = tool({
      inputSchema: z.object({}),
      execute: () => {
        if (++tries < 3) throw new Error('busy')
        return 'done'
      },
    })
    const { told } = await shop({ tools: { flaky: toolOptions(flaky, { retries: { max: 2, delay: 1 } }) } }, [
      { toolName: 'flaky', input: {} },
      'Bye.',
    ])
    expect([tries, told()]).toEqual([3, [{ type: 'text', value: 'done' }]])
  })

  it('refuses an option that does not exist', () => {
    expect(() => toolOptions(refund, { effort: 1 } as never)).toThrow('"effort"')
  })
})

describe('a tool', () => {
  it('that fails tells the model its message', async () => {
    const fails = tool({
      inputSchema: z.object({}),
      execute: (): string => {
        throw new Error('mailbox full')
      },
    })
    const { run, told } = await shop({ tools: { fails } }, [{ toolName: 'fails', input: {} }, 'Bye.'])
    expect(run.result).toEqual({ text: 'Bye.' })
    expect(told()).toMatchObject([{ type: 'error-text', value: expect.stringContaining('mailbox full') }])
  })

  it('shows preliminary results, and returns the last one', async () => {
    const weather = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 'loading'
        yield 'sunny'
      },
    })
    const { run, told } = await shop({ tools: { weather } }, [{ toolName: 'weather', input: {} }, 'Bye.'])
    expect(told()).toEqual([{ type: 'text', value: 'sunny' }])
    expect(run.events.filter(({ type }) => type === 'tool.result')).toMatchObject([
      { payload: { toolCallId: 'call-1-1', result: 'loading', preliminary: true } },
      { payload: { toolCallId: 'call-1-1', result: 'sunny', preliminary: true } },
    ])
  })

  it('without execute is performed by the client', async () => {
    const pick = tool({ title: 'Pick a color', inputSchema: z.object({ of: z.array(z.string()) }) })
    const { run } = await shop({ tools: { pick } }, [{ toolName: 'pick', input: { of: ['red'] } }, 'Bye.'])
    expect([run.status, run.outcome.error]).toEqual(['suspended', undefined])
    expect(run.waitingFor).toMatchObject([{ kind: 'client-tool', name: 'pick' }])
    expect(shownBy(run).items).toMatchObject([
      { kind: 'tool', id: 'call-1-1', name: 'pick', title: 'Pick a color', executor: 'client', args: { of: ['red'] } },
    ])
  })

  it('gets an id of its own when the model repeats an id', async () => {
    const same = { toolName: 'refund', input: { orderId: 'A-1', amount: 1 }, toolCallId: 'c' }
    const { run } = await shop({}, [same, same, 'Bye.'])
    expect(shownBy(run).items.flatMap(({ kind, id }) => (kind === 'tool' ? [id] : []))).toEqual(['c', 'c.2'])
  })
})
