import { describe, expect, it } from 'vitest'
import { eventually, startDurableServer } from './durable-server.ts'

describe('deleting a workflow thread', () => {
  it('permanently removes its state, runs, events and approvals, and leaves other threads unchanged', async () => {
    const server = await startDurableServer()
    const [gone, kept] = await Promise.all(
      ['gone', 'kept'].map(async (threadId) => {
        const runId = await server.execute('tools', threadId, { tools: ['anvil', 'bellows'] })
        await eventually(async () => (await server.run(runId)).status).toBe('suspended')
        const [first] = await server.approvals(runId)
        await server.resolve(first?.id ?? '', true)
        await eventually(async () => (await server.checkpoints('tools', threadId)).length).toBe(2)
        await eventually(async () => (await server.run(runId)).status).toBe('suspended')
        return { threadId, runId, approvals: await server.approvals(runId) }
      }),
    )
    if (gone === undefined || kept === undefined) throw new Error('two threads were started')
    const seen = async () => ({
      run: await server.run(kept.runId),
      state: await server.state('tools', 'kept'),
      events: await server.events(kept.runId),
      checkpoints: await server.checkpoints('tools', 'kept'),
      approvals: await server.approvals(kept.runId),
    })
    const before = await seen()
    const expectGone = async () => {
      const paths = [
        ['/workflows/tools/state?threadId=gone', 'thread-not-found'],
        ['/workflows/tools/checkpoints?threadId=gone', 'thread-not-found'],
        [`/runs/${gone.runId}`, 'run-not-found'],
        [`/runs/${gone.runId}/events`, 'run-not-found'],
        [`/approvals/${gone.approvals[0]?.id}`, 'approval-not-found'],
      ] as const
      for (const [path, error] of paths) expect(await server.get(path)).toMatchObject({ status: 404, body: { error } })
      expect(await server.approvals(gone.runId)).toEqual([])
      expect((await server.itemsOf<{ id: string }>('/runs')).map(({ id }) => id)).toEqual([kept.runId])
    }

    expect(await server.call('DELETE', '/workflows/tools/threads/gone')).toEqual({ status: 204, body: undefined })

    await expectGone()
    expect(await seen()).toEqual(before)
    await server.restart()
    await expectGone()
    expect(await seen()).toEqual(before)
    const again = await server.call('DELETE', '/workflows/tools/threads/gone')
    expect(again).toMatchObject({ status: 404, body: { error: 'thread-not-found' } })

    await server.resolve(kept.approvals[0]?.id ?? '', true)
    await eventually(async () => (await server.run(kept.runId)).status).toBe('completed')
  })

  it('aborts the executing run, whose late result does not bring the thread back', async () => {
    const server = await startDurableServer()
    const runId = await server.execute('held', 'busy', { gate: 'busy' })
    await eventually(() => server.ledger()).toContain('begun busy')

    expect((await server.call('DELETE', '/workflows/held/threads/busy')).status).toBe(204)

    server.openGate('busy')
    await eventually(() => server.ledger()).toContain('late busy')
    await server.post('/agents/echo/run', { input: 'later' })
    expect((await server.get('/workflows/held/state?threadId=busy')).status).toBe(404)
    expect((await server.get(`/runs/${runId}`)).status).toBe(404)
    const fresh = await server.execute('held', 'busy', { gate: 'busy' })
    await eventually(async () => (await server.run(fresh)).status).toBe('completed')
  })
})
