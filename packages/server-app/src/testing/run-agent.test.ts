import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { defineAgent, defineWorkflow } from '../index.ts'
import { runAgent, runWorkflow } from '../testing.ts'

const DAY_MS = 86_400_000

const mail = defineAgent({
  id: 'mail',
  description: 'Sends a mail once it is approved.',
  input: v.object({ to: v.string() }),
  async run({ to }, ctx) {
    await ctx.emit('mail.drafted', { to })
    await ctx.usage({ provider: 'demo', model: 'small', inputTokens: 3, outputTokens: 4 })
    return ctx.tool({ name: 'send', args: { to }, approval: { title: `To ${to}?` }, execute: (args) => args.to })
  },
})

describe('runAgent', () => {
  it('runs an agent without a server and returns its result and events', async () => {
    const echo = defineAgent({ id: 'echo', description: 'E', run: async (input) => ({ input }) })

    const run = await runAgent(echo, 'hello')

    expect(run).toMatchObject({ status: 'completed', finishReason: 'completed', result: { input: 'hello' } })
    expect(run.events.map(({ type }) => type)).toEqual(['run.started', 'run.completed'])
  })

  it('returns what the code of a failed run threw', async () => {
    const broken = new TypeError('broken')
    const throws = defineAgent({
      id: 'throws',
      description: 'T',
      async run(isInStep, { step }) {
        if (!isInStep) throw broken
        return step('charge', () => {
          throw broken
        })
      },
    })

    expect((await runAgent(throws)).error).toBe(broken)
    const failed = await runAgent(throws, true)
    expect(failed.error).toMatchObject({ code: 'step-failed', cause: broken })
    expect(failed.outcome.error).toEqual({
      code: 'step-failed',
      message: 'charge: broken',
      step: { seq: 1, name: 'charge' },
      cause: [{ name: 'TypeError', message: 'broken' }],
    })
    expect((await runAgent(mail, { to: 'ann' })).error).toBeUndefined()
  })

  it('rejects an input that fails the schema', async () => {
    await expect(runAgent(mail, { to: 7 } as never)).rejects.toMatchObject({ code: 'invalid-input' })
  })

  it('names the error of the run when a decision finds no approval', async () => {
    const { decide } = await runAgent({ id: 'broken', run: () => Promise.reject(new Error('out of paper')) }, {})

    await expect(decide('send', { approved: true })).rejects.toMatchObject({
      message: 'approval send is not pending; pending: none; the run is failed',
      cause: { message: 'out of paper' },
    })
  })

  it('shows what a run waits for, and resumes the run with a decision', async () => {
    const asked = await runAgent(mail, { to: 'ann' })

    expect(asked).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'approval', name: 'send' }] })
    expect(asked.approvals).toMatchObject([{ title: 'To ann?', payload: { toolName: 'send', args: { to: 'ann' } } }])
    expect(asked.events).toContainEqual({ type: 'mail.drafted', payload: { to: 'ann' } })
    await expect(asked.decide('other', { approved: true })).rejects.toThrow(
      'approval other is not pending; pending: send; the run is suspended',
    )

    const sent = await asked.decide('send', { approved: true })

    expect(sent).toMatchObject({
      status: 'completed',
      result: { ok: true, value: 'ann' },
      waitingFor: [],
      approvals: [],
    })
    expect(sent.usage).toMatchObject({ inputTokens: 3, outputTokens: 4, toolCalls: 1 })
  })

  it('isolates runs: a decision in one run does not affect another run', async () => {
    const [one, other] = await Promise.all([runAgent(mail, { to: 'ann' }), runAgent(mail, { to: 'bob' })])

    const denied = await one.decide('send', { approved: false, reason: 'no' })

    expect(denied.result).toMatchObject({ ok: false, error: { kind: 'approval_denied', message: 'no' } })
    expect(await other.advance(0)).toMatchObject({ status: 'suspended' })
  })

  it('provides the session, memory, skills and user id that a server would', async () => {
    const agent = defineAgent({
      id: 'guest',
      description: 'G',
      async run(_, { session, memory, skills, userId }) {
        await memory.remember('the sea is blue')
        const [found] = await memory.search('sea')
        return [session?.id, found?.fact.text, (await skills.list()).map(({ name }) => name), userId]
      },
    })
    const skill = { name: 'cite', description: 'How to cite.', instructions: 'Name the source.' }

    const run = await runAgent(agent, null, { request: { sessionId: 'trip', userId: 'ann' }, skills: [skill] })

    expect(run.result).toEqual(['trip', 'the sea is blue', ['cite'], 'ann'])
  })

  it('waits for real asynchronous work and retries a failed step', async () => {
    let tries = 0
    const work = async () => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (++tries < 3) throw new Error('not yet')
      return tries
    }
    const options = { retries: { max: 2, delay: 5 } }
    const agent = {
      id: 'a',
      description: 'A',
      agent: { id: 'a', run: async (_: unknown, ctx: Ctx) => ctx.step('w', work, options) },
    }

    expect(await runAgent(agent)).toMatchObject({ status: 'completed', result: 3 })
  })
})

type Ctx = Parameters<(typeof mail)['run']>[1]

describe('runWorkflow', () => {
  const report = defineWorkflow({
    id: 'report',
    description: 'R',
    async run(_, ctx) {
      const begunAt = await ctx.step('begin', () => 'begun')
      await ctx.sleep('rest', 30 * DAY_MS)
      const go = await ctx.waitForEvent<{ by: string }>('go', { timeout: '1d' })
      if (go === null) return 'too late'
      const sent = await ctx.invoke('mail', { to: go.by })
      return { begunAt, sent }
    },
  })

  it('skips a month, receives an event and waits for child runs', async () => {
    const asleep = await runWorkflow(report, null, { agents: [mail] })
    expect(asleep.waitingFor).toMatchObject([{ kind: 'sleep', name: 'rest' }])

    const waiting = await asleep.advance(30 * DAY_MS)
    expect(waiting.waitingFor).toMatchObject([{ kind: 'event', name: 'go' }])

    const childAsks = await waiting.emit('go', { by: 'ann' })
    expect(childAsks.waitingFor).toMatchObject([{ kind: 'child' }])

    const done = await childAsks.decide('send', { approved: true })
    expect(done).toMatchObject({ status: 'completed', result: { begunAt: 'begun', sent: { ok: true, value: 'ann' } } })
  })

  it('resumes a run whose wait times out', async () => {
    const waiting = await (await runWorkflow(report, null, { agents: [mail] })).advance(30 * DAY_MS)

    expect(await waiting.advance(DAY_MS)).toMatchObject({ status: 'completed', result: 'too late' })
  })

  it('starts the clock at the given time', async () => {
    const workflow = defineWorkflow({
      ...{ id: 'w', description: 'W' },
      run: async (_, ctx) => ctx.sleep('until', new Date('2030-01-01T00:00:00.000Z')),
    })
    const asleep = await runWorkflow(workflow, null, { now: new Date('2029-12-31T00:00:00.000Z') })

    expect(await asleep.advance(DAY_MS - 60_000)).toMatchObject({ status: 'suspended' })
    expect(await asleep.advance(DAY_MS)).toMatchObject({ status: 'completed' })
  })
})
