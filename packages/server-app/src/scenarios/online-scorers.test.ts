import { type AgentRegistration, NonRetryableError, type RunContext, type RunScorer } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { Storage } from '@perdure/ports'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'

const logger = { debug() {}, info() {}, warn() {}, error() {} }

const isPolite: RunScorer = {
  name: 'is polite',
  score: ({ text }) => (text.includes('please') ? { pass: true } : { pass: false, reason: `said ${text}` }),
}

type Scorers = NonNullable<AgentRegistration['scorers']>

const supportWith = (scorers: Scorers): AgentRegistration => ({
  id: 'support',
  scorers,
  async run(input, ctx: RunContext) {
    if (input === 'throw') throw new NonRetryableError('no')
    await ctx.text(String(input))
    return { text: String(input) }
  },
})

async function serve(agent: AgentRegistration, storage: Storage = createInMemoryStorage()) {
  const server = await createServer({
    config: { auth: { kind: 'none' }, server: { rateLimit: { perIpRequests: 10_000 } } },
    adapters: { storage, logger },
    agents: [agent],
  })
  await server.start({ listen: false })
  const stop = () => server.stop({ force: true })
  onTestFinished(() => stop())
  const send = async (path: string, body?: object) => {
    const init = body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return (await server.fetch(new Request(`http://localhost/v1${path}`, init))) as Response
  }
  const read = async (path: string) => JSON.parse(await (await send(path)).text())
  const run = async (input: unknown): Promise<string> => {
    const answer = await send('/agents/support/run', { input })
    return JSON.parse(await answer.text()).runId
  }
  const judged = async (query = '') => (await read(`/runs?agentId=support-scorers&include=result${query}`)).items
  return { run, read, send, judged, stop }
}

/** Waits until no fire is pending and no run of the scorers is open. */
async function settled({ read, judged }: Awaited<ReturnType<typeof serve>>, count: number) {
  await expect.poll(async () => (await judged('&limit=200')).length).toBe(count)
  await expect
    .poll(async () =>
      (await read('/triggers/score-support/fires?limit=200')).items.map((fire: { status: string }) => fire.status),
    )
    .not.toEqual(expect.arrayContaining([expect.stringMatching(/pending|started/)]))
  return judged('&limit=200')
}

describe('scorers of a registration', () => {
  it('judge a run after its end, in a run of its own with events and metrics', async () => {
    const server = await serve(
      supportWith({ use: [isPolite, { name: 'ended', score: ({ status }) => ({ pass: status === 'completed' }) }] }),
    )
    const runId = await server.run('go away')

    const [judgement] = await settled(server, 1)

    const scores = [
      { scorer: 'is polite', pass: false, reason: 'said go away' },
      { scorer: 'ended', pass: true },
    ]
    expect(judgement).toMatchObject({ agentId: 'support-scorers', status: 'completed', result: { runId, scores } })
    const events = (await server.read(`/runs/${judgement.id}/events?limit=200`)).items
    expect(events.filter(({ type }: { type: string }) => type === 'run.scored')).toMatchObject(
      scores.map((score) => ({ payload: { runId, kind: 'agent', id: 'support', ...score } })),
    )
    const metrics = await (await server.send('/metrics')).text()
    expect(metrics).toContain('svc_run_scores_total{target="support",scorer="is polite",outcome="fail"} 1')
    expect(metrics).toContain('svc_run_scores_total{target="support",scorer="ended",outcome="pass"} 1')
    expect((await server.read('/agents/support')).scoring).toEqual({
      ...{ agentId: 'support-scorers', sample: 1, scorers: ['is polite', 'ended'] },
    })
  })

  it('judge failed runs, but neither aborted ones nor the judgements', async () => {
    const server = await serve(
      supportWith({ use: [{ name: 'ended', score: ({ status }) => ({ pass: status === 'completed' }) }] }),
    )
    await server.run('throw')

    const [judgement] = await settled(server, 1)

    expect(judgement.result.scores).toEqual([{ scorer: 'ended', pass: false }])
    expect((await server.read('/agents/support-scorers')).scoring).toBeUndefined()
  })

  it('judge the given share of the runs', async () => {
    const server = await serve(supportWith({ use: [isPolite], sample: 0.25 }))
    for (let count = 0; count < 200; count++) await server.run('please')

    await expect.poll(async () => (await server.judged('&limit=200')).length).toBeGreaterThan(20)
    const fires = (await server.read('/triggers/score-support/fires?limit=200')).items
    // 50 of 200 are expected; the probability of a value outside of these bounds is below 1 in 10 million.
    expect(fires.length).toBeGreaterThan(20)
    expect(fires.length).toBeLessThan(85)
  })

  it('end with their budget, and keep the scores so far', async () => {
    const paid = (name: string): RunScorer => ({
      name,
      score(_, { charge }) {
        charge({ inputTokens: 60, outputTokens: 0, costUsd: 0 })
        return { pass: true }
      },
    })
    const server = await serve(supportWith({ use: [paid('one'), paid('two'), paid('three')], budget: { tokens: 100 } }))
    await server.run('please')

    const [judgement] = await settled(server, 1)

    expect(judgement).toMatchObject({ status: 'failed', finishReason: 'budget-exhausted', usage: { inputTokens: 120 } })
  })

  it.each<readonly [string, Partial<RunScorer>, string]>([
    ['throws', { score: () => Promise.reject(new Error('no such member')) }, 'no such member'],
    ['is wrong about its control cases', { check: async () => 'the judge says yes to every control case' }, 'says yes'],
    ['returns another value', { score: () => ({ pass: 'yes' }) as never }, 'is broken returned {"pass":"yes"}'],
    ['returns nothing', { score: () => undefined as never }, 'is broken returned undefined'],
    ['never settles', { score: () => new Promise<never>(() => undefined) }, 'no result within 400 ms'],
  ])('give an error for a scorer that %s, and the scores of the others', async (_, broken, reason) => {
    const scorer: RunScorer = { ...isPolite, name: 'is broken', ...broken }
    const server = await serve(supportWith({ use: [scorer, isPolite], timeout: '400ms' }))
    await server.run('please')

    const [judgement] = await settled(server, 1)

    const scores = [
      { scorer: 'is broken', pass: false, isError: true, reason: expect.stringContaining(reason) },
      { scorer: 'is polite', pass: true },
    ]
    expect(judgement).toMatchObject({ status: 'completed', result: { scores } })
    const events = (await server.read(`/runs/${judgement.id}/events?limit=200`)).items
    expect(events.filter(({ type }: { type: string }) => type === 'run.scored')).toMatchObject(
      scores.map((score) => ({ payload: score })),
    )
    const metrics = await (await server.send('/metrics')).text()
    expect(metrics).toContain('svc_run_scores_total{target="support",scorer="is broken",outcome="error"} 1')
    expect(metrics).toContain('svc_run_scores_total{target="support",scorer="is polite",outcome="pass"} 1')
  })

  it('continue a judgement after a deployment with other scorers', async () => {
    const storage = createInMemoryStorage()
    const hanging: RunScorer = { name: 'hangs', score: () => new Promise<never>(() => undefined) }
    const first = await serve(supportWith({ use: [hanging, isPolite] }), storage)
    await first.run('please')
    await expect.poll(() => first.judged()).toMatchObject([{ status: 'running' }])
    await first.stop().catch(() => undefined)

    const second = await serve(supportWith({ use: [isPolite] }), storage)

    const [judgement] = await settled(second, 1)
    expect(judgement.result.scores).toMatchObject([
      { scorer: 'hangs', isError: true, reason: expect.stringContaining('no longer has the scorer hangs') },
      { scorer: 'is polite', pass: true },
    ])
  })

  it('judge a run once whose server crashes right after the end of the run', async () => {
    const storage = createInMemoryStorage()
    let isDown = false
    const crashing: Storage = {
      ...storage,
      unitOfWork: {
        async commit(writes) {
          if (isDown) throw new Error('the server has crashed')
          isDown = writes.some((write) => write.type === 'run.transition' && write.change.status === 'completed')
          return storage.unitOfWork.commit(writes)
        },
      },
    }
    const first = await serve(supportWith({ use: [isPolite] }), crashing)
    const runId = await first.run('please')
    await first.stop().catch(() => undefined)

    const second = await serve(supportWith({ use: [isPolite] }), storage)

    const judged = await settled(second, 1)
    expect(judged.map(({ result }: { result: object }) => result)).toMatchObject([{ runId, scores: [{ pass: true }] }])
  })

  it('judge nothing while an operator has disabled the trigger, or without the trigger', async () => {
    const storage = createInMemoryStorage()
    const server = await serve(supportWith({ use: [isPolite] }), storage)
    await server.send('/triggers/score-support/disable', {})
    await server.run('please')
    await expect
      .poll(async () => (await server.read('/triggers/score-support/fires')).items)
      .toMatchObject([{ status: 'skipped', reason: 'the trigger was disabled' }])

    await storage.unitOfWork.commit([{ type: 'trigger.delete', id: 'score-support' }])
    const ended = await server.run('please')

    expect(await server.read(`/runs/${ended}`)).toMatchObject({ status: 'completed' })
    expect(await server.judged()).toEqual([])
  })

  it.each([
    [{ use: [] }, 'scorers.use must be a list of scorers'],
    [{ use: [isPolite, isPolite] }, 'scorers.use has two scorers named is polite'],
    [{ use: [isPolite], sample: 2 }, 'scorers.sample must be from 0 to 1'],
    [{ use: [isPolite], timeout: 'soon' }, 'scorers.timeout'],
    [{ use: [{ ...isPolite, reads: ['text', 'expected'] }] }, 'is polite compares with expected of a case'],
    [{ use: [isPolite], smaple: 0.1 }, 'scorers has no member smaple'],
    [{ use: [isPolite], budget: { tokens: -1 } }, 'budget must contain only'],
  ])('are refused at the start: %j', async (scorers, problem) => {
    await expect(serve(supportWith(scorers as never))).rejects.toThrow(problem)
  })
})
