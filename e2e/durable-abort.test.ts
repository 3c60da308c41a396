import { describe, expect, it } from 'vitest'
import { type Answer, eventually, startDurableServer } from './durable-server.ts'

const ASYNC = { prefer: 'respond-async' }

describe('an agent that ignores its signal', () => {
  it('is aborted at once, frees its slot after the grace period and has its late result discarded', async () => {
    const server = await startDurableServer()
    const runDeaf = (gate: string) => server.post('/agents/deaf/run', { input: { gate } }, ASYNC)
    const first = (await runDeaf('one')).body.runId
    await eventually(() => server.ledger()).toContain('begun one')

    const aborted = await server.post(`/runs/${first}/abort`, { reason: 'enough' })

    expect(aborted).toMatchObject({ status: 200, body: { status: 'aborted', finishReason: 'aborted' } })
    const record = await server.run(first)
    expect(record).toMatchObject({ status: 'aborted', finishReason: 'aborted' })
    const events = await server.events(first)
    expect(events.map(({ type }) => type)).toEqual(['run.started', 'deaf.begun', 'run.aborted'])

    let second: Answer | undefined
    await eventually(async () => {
      second = await runDeaf('two')
      if (second.status === 409) expect(second.body.error).toBe('agent-busy')
      return second.status
    }).toBe(202)
    await eventually(() => server.ledger()).toContain('begun two')
    expect(server.ledger()).not.toContain('late one run-not-active')
    expect(await server.run(first)).toEqual(record)

    server.openGate('one')
    await eventually(() => server.ledger()).toContain('late one run-not-active')
    // The agent returned its late result before this commit, so the result would be visible by now if it were not
    // discarded.
    await server.post('/agents/echo/run', { input: 'later' })
    expect(await server.run(first)).toEqual(record)
    expect(await server.events(first)).toEqual(events)
    expect((await runDeaf('three')).body.error).toBe('agent-busy')

    server.openGate('two')
    const next = second?.body.runId ?? ''
    await eventually(async () => (await server.run(next)).status).toBe('completed')
    expect((await server.run(next)).result).toEqual({ late: 'two' })
    expect(server.ledger()).toContain('late two recorded')

    await server.restart()
    expect(await server.run(first)).toEqual(record)
    expect(await server.events(first)).toEqual(events)
  })
})

describe('a failed run', () => {
  it('shows the failure in its answer, its record and its last event', async () => {
    const server = await startDurableServer()
    const failures = [
      await server.post('/agents/fails/run', { input: { message: 'boom', code: 'out-of-steam' } }),
      await server.post('/agents/fails/run', { input: { message: 'boom' } }),
      await server.post('/workflows/breaks/execute', {}, { prefer: 'wait=20' }),
    ]
    const errors = [
      { code: 'out-of-steam', message: 'boom' },
      { code: 'run-failed', message: 'boom' },
      { code: 'step-failed', message: 'broken: no such luck' },
    ]

    await server.restart()

    for (const [index, { status, body }] of failures.entries()) {
      const failed = { status: 'failed', finishReason: 'error', error: errors[index] }
      expect(status).toBe(200)
      expect(body).toMatchObject(failed)
      expect(body).not.toHaveProperty('result')
      expect(await server.run(body.runId)).toMatchObject(failed)
      expect((await server.events(body.runId)).at(-1)).toMatchObject({ type: 'run.failed', payload: failed })
    }
    const listed = await server.itemsOf<{ id: string }>('/runs?status=failed&order=asc')
    expect(listed.map(({ id }) => id)).toEqual(failures.map(({ body }) => body.runId))
  })
})
