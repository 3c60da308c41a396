import { describe, expect, it } from 'vitest'
import { eventually, startDurableServer } from './durable-server.ts'

describe('a suspended run', () => {
  it('resumes after the restart when its sleep expired while the server was down', async () => {
    const server = await startDurableServer()
    const runId = await server.execute('sleeper', 'nap', { ms: 4_000 })
    await eventually(async () => (await server.run(runId)).status).toBe('suspended')
    const { waitingFor } = await server.state('sleeper', 'nap')
    const dueAt = Date.parse(waitingFor[0]?.dueAt ?? '')
    await server.kill('SIGKILL')
    await eventually(() => Date.now()).toBeGreaterThan(dueAt)
    expect(server.ledger()).toEqual([])

    await server.start()

    await eventually(async () => (await server.run(runId)).status).toBe('completed')
    expect(await server.run(runId)).toMatchObject({ result: { slept: 4_000 }, attempt: 1 })
    expect(server.ledger()).toEqual(['woke nap'])
  })

  it('finishes when its own sleep expires, among twenty sleeping runs and across a kill', async () => {
    const server = await startDurableServer()
    const threads = Array.from({ length: 20 }, (_, n) => ({ threadId: `nap-${n}`, ms: 100 + n * 100 }))
    const runIds = await Promise.all(threads.map(({ threadId, ms }) => server.execute('sleeper', threadId, { ms })))
    await eventually(() => server.ledger().length).toBeGreaterThanOrEqual(4)
    await server.restart()

    const runs = await Promise.all(
      runIds.map(async (runId) => {
        await eventually(async () => (await server.run(runId)).status).toBe('completed')
        return server.run(runId)
      }),
    )
    expect(runs.map(({ result }) => result)).toEqual(threads.map(({ ms }) => ({ slept: ms })))
    expect(new Set(server.ledger())).toEqual(new Set(threads.map(({ threadId }) => `woke ${threadId}`)))
    for (const [index, { ms }] of threads.entries()) {
      const { createdAt, completedAt } = runs[index] ?? {}
      expect(Date.parse(completedAt ?? '') - Date.parse(createdAt ?? '')).toBeGreaterThanOrEqual(ms)
    }
  })

  it('survives SIGTERM unchanged and receives its event afterwards', async () => {
    const server = await startDurableServer()
    const runId = await server.execute('waiter', 'patient', { event: 'bell' })
    await eventually(async () => (await server.run(runId)).status).toBe('suspended')
    const seen = async () => ({
      run: await server.run(runId),
      state: await server.state('waiter', 'patient'),
      events: await server.events(runId),
    })
    const before = await seen()
    expect(before.state.waitingFor).toEqual([{ kind: 'event', name: 'bell' }])

    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    await server.start()

    expect(await seen()).toEqual(before)
    const resumed = await server.post('/workflows/waiter/resume', { threadId: 'patient', payload: { rings: 3 } })
    expect(resumed.status).toBe(202)
    await eventually(async () => (await server.run(runId)).status).toBe('completed')
    expect(await server.run(runId)).toMatchObject({
      result: { before: 'before', payload: { rings: 3 } },
      attempt: 1,
    })
    expect(server.ledger()).toEqual(['before patient'])
    const again = await server.post('/workflows/waiter/resume', { threadId: 'patient' })
    expect(again).toMatchObject({ status: 409, body: { error: 'resume-without-suspension' } })
  })
})
