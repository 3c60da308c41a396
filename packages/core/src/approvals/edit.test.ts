import { createInMemoryStorage } from '@perdure/in-memory'
import { type CheckJson, EVERY_ROW } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { ToolContext } from '../durable/tool.ts'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import { isFields } from '../fold/log-event.ts'
import type { RunContext } from '../targets/run-context.ts'

const BOB = { subject: 'bob', scopes: ['agents:invoke', 'approvals:resolve'] }
const SCHEMA = { type: 'object', required: ['amount'] }
const ODD = { schema: { type: 'odd' } }
const ASKED = { amount: 60 }

/** Amounts are at most 50. */
const checkJson: CheckJson = async (schema, value) => {
  if (JSON.stringify(schema) !== JSON.stringify(SCHEMA)) throw new Error('unknown schema')
  return isFields(value) && Number(value.amount) <= 50 ? undefined : 'amount must be <= 50'
}

type Code = (input: unknown, ctx: RunContext) => Promise<unknown>

/** A run of alice that waits for an approval, on a server that can restart. */
async function setUpRun(code: Code, check: CheckJson | null = checkJson) {
  const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
  const { storage, clock } = shared
  const start = async () => {
    const agents = [agentOf('pays', code, { onCrash: 'retry' })]
    const engine = createTestEngine({ ...shared, agents, ...(check === null ? {} : { checkJson: check }) })
    await engine.recover()
    await engine.start()
    await untilIdle(clock)
    return engine
  }
  const engine = await start()
  const reply = engine.run('pays')
  await untilIdle(clock)
  const { runId, approvals = [] } = outcomeOf(await reply)
  const approvalId = approvals[0]?.id ?? ''
  return {
    ...{ engine, storage, clock, start, runId, approvalId },
    decide: (decision: object) =>
      engine.resolveApproval({
        ...{ approvalId, approved: true, by: BOB.subject, scopes: BOB.scopes, visibility: EVERY_ROW },
        ...decision,
      }),
    read: () => engine.readApprovals.get(approvalId, EVERY_ROW),
    async result() {
      await untilIdle(clock)
      return JSON.parse((await storage.runs.find(runId, EVERY_ROW))?.result ?? 'null')
    },
    async eventsOf(type: string) {
      const events = await storage.events.read({ runId }, { after: 0, limit: 99 })
      return events.filter((event) => event.type === type).map(({ payload }) => JSON.parse(payload))
    },
  }
}

const paying =
  (editable: boolean | { schema: object }, seen: unknown[] = []): Code =>
  (_, { tool }) =>
    tool({
      name: 'pay',
      args: ASKED,
      approval: { editable } as never,
      execute: ({ amount }: { amount: number }, { approval }: ToolContext) => {
        seen.push(approval)
        return `paid ${amount}`
      },
    })

describe('an approval of a tool', () => {
  it.each([
    ['the usual payload', {}],
    ['a payload of its own', { payload: { invoice: 7 } }],
    ['a payload of its own, if it is editable', { payload: { invoice: 7 }, editable: true }],
  ])('shows the arguments of the call with %s', async (_, approval) => {
    const { read, decide } = await setUpRun((_input, { tool }) =>
      tool({ name: 'pay', args: ASKED, approval, execute: () => 'paid' }),
    )
    expect((await read()).args).toEqual(ASKED)
    expect((await decide({})).body).toMatchObject({ args: ASKED })
  })

  it('shows none for a request of the code', async () => {
    const { read } = await setUpRun((_input, ctx) => ctx.approval('go', { payload: { toolName: 'pay', args: ASKED } }))
    expect((await read()).args).toBeUndefined()
  })
})

describe('an editable approval of a tool', () => {
  it('shows the arguments and their schema', async () => {
    const { read, eventsOf } = await setUpRun(paying({ schema: SCHEMA }))

    expect(await read()).toMatchObject({ args: ASKED, argsSchema: SCHEMA })
    expect(await eventsOf('approval.requested')).toMatchObject([{ editable: true, payload: { args: ASKED } }])
  })

  it('executes the tool with the changed arguments, and keeps both forms', async () => {
    const seen: unknown[] = []
    const { decide, read, result, eventsOf, clock } = await setUpRun(paying({ schema: SCHEMA }, seen))
    const at = new Date(clock.now())

    await decide({ args: { amount: 40 } })

    expect(await result()).toEqual({ ok: true, value: 'paid 40', editedArgs: { amount: 40 } })
    expect(seen).toEqual([{ by: 'bob', at, edited: true }])
    expect(await read()).toMatchObject({ status: 'approved', args: ASKED, editedArgs: { amount: 40 } })
    expect(await eventsOf('approval.resolved')).toMatchObject([{ editedArgs: { amount: 40 } }])
    expect(await eventsOf('tool.execute.start')).toMatchObject([{ args: { amount: 40 } }])
  })

  it.each([
    ['without arguments', {}],
    ['with the arguments of the request', { args: { amount: 60 } }],
  ])('executes the tool as asked for when it is approved %s', async (_, decision) => {
    const seen: unknown[] = []
    const { decide, read, result } = await setUpRun(paying({ schema: SCHEMA }, seen))

    await decide(decision)

    expect(await result()).toEqual({ ok: true, value: 'paid 60' })
    expect(seen).toMatchObject([{ by: 'bob', edited: false }])
    expect(await read()).not.toHaveProperty('editedArgs', expect.anything())
  })

  it.each([
    ['do not match the schema', { args: { amount: 51 } }, 'args: amount must be <= 50'],
    ['come with a denial', { approved: false, args: { amount: 40 } }, 'args: a denied call has no arguments'],
    ['are too long', { args: { amount: 1, note: 'x'.repeat(262_144) } }, 'args: longer than 262144 bytes'],
  ])('refuses arguments that %s, and stays open', async (_, decision, message) => {
    const { decide, read, engine, runId, approvalId } = await setUpRun(paying({ schema: SCHEMA }))

    await expect(decide(decision)).rejects.toMatchObject({ code: 'validation-failed', message })
    await expect(
      engine.resumeRun({
        ...{ runId, principal: BOB, visibility: EVERY_ROW },
        approvals: [{ id: approvalId, approved: true, ...decision }],
      }),
    ).rejects.toMatchObject({ code: 'validation-failed', message })

    expect((await read()).status).toBe('pending')
  })

  it('takes any arguments without a schema', async () => {
    const { decide, result } = await setUpRun(paying(true), null)
    await decide({ args: { amount: 999 } })
    expect(await result()).toMatchObject({ value: 'paid 999' })
  })

  it('refuses arguments on a server without a validator', async () => {
    const { decide } = await setUpRun(paying({ schema: SCHEMA }), null)

    await expect(decide({ args: { amount: 1 } })).rejects.toMatchObject({
      ...{ code: 'validation-failed', message: 'args: this server cannot check arguments against a schema' },
    })
  })

  it('answers a repeated decision the same, and refuses one with other arguments', async () => {
    const { decide } = await setUpRun(paying({ schema: SCHEMA }))
    const first = await decide({ args: { amount: 40, to: 'mia' } })

    expect(await decide({ args: { to: 'mia', amount: 40 } })).toEqual(first)
    await expect(decide({ args: { amount: 41 } })).rejects.toMatchObject({ code: 'approval-resolved' })
    await expect(decide({})).rejects.toMatchObject({ code: 'approval-resolved' })
  })

  it('does not pass the changed arguments on to a call with other arguments than those of the request', async () => {
    let amount = 60
    const executed: unknown[] = []
    const run = await setUpRun((_, { tool }) =>
      tool({
        ...{ name: 'pay', args: { amount }, approval: { editable: true } },
        execute: (args) => executed.push(args),
      }),
    )
    amount = 90
    await run.decide({ args: { amount: 40 } })
    await untilIdle(run.clock)

    expect(executed).toEqual([])
    const { items } = await run.storage.approvals.list({ status: 'pending' }, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items.map(({ args }) => args)).toEqual(['{"amount":90}'])
  })

  it('gives the changed arguments to a tool that a crash has cut off', async () => {
    const executed: unknown[] = []
    let isCutOff = true
    const run = await setUpRun((_, { tool }) =>
      tool({
        ...{ name: 'pay', args: ASKED, approval: { editable: true } },
        execute: (args, { approval }) => {
          executed.push([args, approval?.edited])
          return isCutOff ? new Promise<string>(() => undefined) : 'paid'
        },
      }),
    )
    await run.decide({ args: { amount: 40 } })
    await untilIdle(run.clock)
    isCutOff = false
    await run.start()

    expect(executed).toEqual([
      [{ amount: 40 }, true],
      [{ amount: 40 }, true],
    ])
    expect(await run.result()).toEqual({ ok: true, value: 'paid', editedArgs: { amount: 40 } })
  })
})

describe('the schema of an editable approval', () => {
  it('that an earlier release accepted does not fail the run that waits', async () => {
    let isUsable = true
    const run = await setUpRun(paying({ schema: SCHEMA }), async () => {
      if (!isUsable) throw new Error('unknown schema')
      return undefined
    })
    isUsable = false
    await run.start()
    await run.decide({})

    expect(await run.result()).toEqual({ ok: true, value: 'paid 60' })
  })
})

describe('an approval that is not editable', () => {
  it('refuses arguments, and stays open', async () => {
    const { decide, read } = await setUpRun(paying(false))

    await expect(decide({ args: ASKED })).rejects.toMatchObject({ code: 'approval-not-editable' })

    expect((await read()).status).toBe('pending')
  })
})

describe('an editable ctx.approval', () => {
  it('returns the changed payload', async () => {
    const { decide, read, result } = await setUpRun((_, { approval }) =>
      approval('pay', { payload: ASKED, editable: { schema: SCHEMA } }),
    )
    expect(await read()).toMatchObject({ args: ASKED })
    await decide({ args: { amount: 40 } })
    expect(await result()).toEqual({ approved: true, by: 'bob', args: { amount: 40 } })
  })
})

describe('an editable approval of ctx.suspend', () => {
  it('returns the changed payload in ctx.resume', async () => {
    const { decide, result } = await setUpRun(async (_, { resume, suspend }) =>
      resume === undefined
        ? suspend({ approvals: [{ name: 'pay', payload: ASKED, editable: true }] })
        : resume.approvals.map(({ approved, args }) => [approved, args]),
    )
    await decide({ args: { amount: 40 } })
    expect(await result()).toEqual([[true, { amount: 40 }]])
  })
})

describe('the option editable', () => {
  it.each([
    ['a text', 'yes', 'editable must be a boolean or { schema }'],
    ['a schema that is no object', { schema: [] }, 'editable must be a boolean or { schema }'],
    ['a long schema', { schema: { title: 'x'.repeat(65_536) } }, 'editable.schema is longer than 65536 bytes'],
  ])('is refused with %s', async (_, editable, message) => {
    const { storage, runId } = await setUpRun(paying(editable as never))
    const run = await storage.runs.find(runId, EVERY_ROW)
    expect(run?.error?.message).toContain(message)
  })

  it.each<[string, Code]>([
    ['ctx.tool', paying(ODD)],
    ['ctx.approval', (_, { approval }) => approval('pay', { payload: ASKED, editable: ODD })],
    ['ctx.suspend', async (_, { suspend }) => suspend({ approvals: [{ name: 'pay', payload: ASKED, editable: ODD }] })],
    // The other call waits: the run must not be suspended before the schema is checked.
    [
      'ctx.approval beside a wait',
      (_, { approval, waitForEvent }) =>
        Promise.all([waitForEvent('paid'), approval('pay', { payload: ASKED, editable: ODD })]),
    ],
  ])('is refused with a schema that cannot be used, before anybody is asked: %s', async (_, code) => {
    const slow: CheckJson = async (schema, value) => {
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
      return checkJson(schema, value)
    }
    const { storage, runId } = await setUpRun(code, slow)

    const run = await storage.runs.find(runId, EVERY_ROW)
    expect(run?.error).toMatchObject({
      code: 'validation-failed',
      message: 'an approval: editable.schema cannot be used as a JSON Schema: unknown schema',
    })
    expect((await storage.approvals.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).items).toEqual([])
  })
})
