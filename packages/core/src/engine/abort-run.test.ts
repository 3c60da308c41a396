import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../targets/run-context.ts'
import { agentOf, createTestEngine, gate, outcomeOf, untilIdle } from './test-engine.fixture.ts'

const key = { id: 'abort-1', fingerprint: 'same' }
const untilAborted = agentOf(
  'until-aborted',
  (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('late'))),
)

describe('abortRun', () => {
  it('ends the run immediately, fires its signal and answers the waiting request', async () => {
    let context: RunContext | undefined
    const spy = agentOf('spy', (_, given) => {
      context = given
      return new Promise(() => undefined)
    })
    const engine = createTestEngine({ agents: [spy] })
    const waiting = engine.run('spy')
    await untilIdle()

    const reply = await engine.abortRun({
      runId: context?.runId ?? '',
      reason: 'no longer needed',
      visibility: EVERY_ROW,
    })

    expect(outcomeOf(reply)).toMatchObject({ status: 'aborted', finishReason: 'aborted' })
    expect(context?.signal.reason).toBe('aborted')
    const resource = await engine.readRuns.get(context?.runId ?? '', EVERY_ROW)
    expect(resource).toMatchObject({ status: 'aborted', abortReason: 'no longer needed' })
    expect(outcomeOf(await waiting)).toMatchObject({ status: 'aborted' })
    const last = (await engine.eventsOf(context?.runId ?? '')).at(-1)
    expect([last?.type, JSON.parse(last?.payload ?? '{}').reason]).toEqual(['run.aborted', 'no longer needed'])
  })

  it('drops the late result and late events of an aborted run', async () => {
    let late: Promise<void> | undefined
    const talkative = agentOf('talkative', async (_, { signal, emit }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      late = emit('text.delta', { delta: 'too late' })
      return 'too late'
    })
    const engine = createTestEngine({ agents: [talkative] })
    const { runId = '' } = await engine.run('talkative', { answer: 'accepted' })
    await untilIdle()

    await engine.abortRun({ runId, visibility: EVERY_ROW })
    await untilIdle()

    await expect(late).rejects.toMatchObject({ code: 'run-not-active' })
    expect((await engine.find(runId))?.status).toBe('aborted')
    expect((await engine.find(runId))?.result).toBeUndefined()
    expect((await engine.eventsOf(runId)).map(({ type }) => type)).toEqual(['run.started', 'run.aborted'])
  })

  it('returns the same answer for a run that is already aborted, and rejects a completed run', async () => {
    const engine = createTestEngine({ agents: [untilAborted, agentOf('quick', async () => 1)] })
    const slow = await engine.run('until-aborted', { answer: 'accepted' })
    const quick = await engine.run('quick')
    const abort = (runId = '') => engine.abortRun({ runId, visibility: EVERY_ROW })

    expect((await abort(slow.runId)).json).toBe((await abort(slow.runId)).json)
    await expect(abort(quick.runId)).rejects.toMatchObject({ code: 'run-not-active' })
    await expect(abort('run_unknown')).rejects.toMatchObject({ code: 'run-not-found' })
  })

  it('answers run-not-found for a run that the caller may not see', async () => {
    const engine = createTestEngine({ agents: [untilAborted] })
    const { runId = '' } = await engine.run('until-aborted', { answer: 'accepted' })

    const attempt = engine.abortRun({ runId, visibility: { agentIds: ['other'] } })

    await expect(attempt).rejects.toMatchObject({ code: 'run-not-found' })
    expect((await engine.find(runId))?.status).toBe('running')
  })

  it('takes effect once per idempotency key', async () => {
    const engine = createTestEngine({ agents: [untilAborted] })
    const { runId = '' } = await engine.run('until-aborted', { answer: 'accepted' })

    const first = await engine.abortRun({ runId, visibility: EVERY_ROW, key })
    const again = await engine.abortRun({ runId, visibility: EVERY_ROW, key })

    expect(again).toMatchObject({ status: 200, json: first.json, replayed: true })
  })

  it('aborts a queued run, which then never executes', async () => {
    const open = gate()
    const seen: unknown[] = []
    const work = agentOf('work', async (input) => {
      seen.push(input)
      await open.promise
    })
    const engine = createTestEngine({ agents: [work], concurrency: 1 })
    await engine.run('work', { body: { input: 1 }, answer: 'accepted' })
    const waiting = await engine.run('work', { body: { input: 2 }, answer: 'accepted' })

    await engine.abortRun({ runId: waiting.runId ?? '', visibility: EVERY_ROW })
    open.resolve()
    await untilIdle()

    expect(seen).toEqual([1])
    expect((await engine.find(waiting.runId ?? ''))?.status).toBe('aborted')
  })

  it('ends a run only once when it completes and is aborted at the same time', async () => {
    const open = gate<string>()
    const engine = createTestEngine({ agents: [agentOf('racer', () => open.promise)] })
    const { runId = '' } = await engine.run('racer', { answer: 'accepted' })
    await untilIdle()

    const abort = engine.abortRun({ runId, visibility: EVERY_ROW }).then(outcomeOf, ({ code }) => ({ status: code }))
    open.resolve('done')
    const { status } = await abort
    await untilIdle()

    const record = await engine.find(runId)
    expect([status, record?.status]).toEqual(
      status === 'aborted' ? ['aborted', 'aborted'] : ['run-not-active', 'completed'],
    )
    const ends = (await engine.eventsOf(runId)).filter(({ type }) => /completed|aborted|failed/.test(type))
    expect(ends).toHaveLength(1)
  })

  it('releases the slot after the grace period if the agent ignores its abort signal', async () => {
    const deaf = agentOf('deaf', () => new Promise(() => undefined), { concurrency: 'single' })
    const engine = createTestEngine({ agents: [deaf] })
    const { runId = '' } = await engine.run('deaf', { answer: 'accepted' })
    await untilIdle()

    await engine.abortRun({ runId, visibility: EVERY_ROW })
    await expect(engine.run('deaf')).rejects.toMatchObject({ code: 'agent-busy' })
    engine.clock.advance(5_000)

    expect((await engine.run('deaf', { answer: 'accepted' })).status).toBe(202)
  })
})

describe('abortAgent', () => {
  it('aborts every run of the agent and no run of another agent', async () => {
    const engine = createTestEngine({
      agents: [untilAborted, agentOf('other', () => new Promise(() => undefined))],
      concurrency: 2,
    })
    const mine = [
      await engine.run('until-aborted', { answer: 'accepted' }),
      await engine.run('until-aborted', { answer: 'accepted' }),
      await engine.run('until-aborted', { answer: 'accepted' }),
    ]
    const other = await engine.run('other', { answer: 'accepted' })

    const reply = await engine.abortAgent({ agentId: 'until-aborted', visibility: EVERY_ROW, key })

    expect(reply).toMatchObject({ status: 202, body: { aborted: mine.map(({ runId }) => runId) } })
    expect((await engine.find(other.runId ?? ''))?.status).not.toBe('aborted')
    expect(await engine.abortAgent({ agentId: 'until-aborted', visibility: EVERY_ROW, key })).toMatchObject({
      replayed: true,
    })
    await expect(engine.abortAgent({ agentId: 'nobody', visibility: EVERY_ROW })).rejects.toMatchObject({
      code: 'agent-not-found',
    })
  })
})

describe('timeout', () => {
  it('uses the lower timeout of request and agent, and aborts the run with reason timeout', async () => {
    let reason: unknown
    const slow = agentOf(
      'slow',
      (_, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            reason = signal.reason
            resolve(1)
          }),
        ),
      { timeout: 500 },
    )
    const engine = createTestEngine({ agents: [slow] })
    const waiting = engine.run('slow', { body: { timeoutMs: 9_000 } })
    await untilIdle()

    engine.clock.advance(500)

    expect(outcomeOf(await waiting)).toMatchObject({ status: 'aborted', finishReason: 'timeout' })
    await untilIdle()
    expect(reason).toBe('timeout')
  })
})
