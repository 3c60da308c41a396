import { describe, expect, it } from 'vitest'
import { eventually, type Shown, startDurableServer } from './durable-server.ts'

const ASYNC = { prefer: 'respond-async' }

async function startFamily(gate: string) {
  const server = await startDurableServer()
  const parentId = (await server.post('/agents/parent/run', { input: { gate } }, ASYNC)).body.runId
  await eventually(() => server.ledger()).toContain(`child ${gate} attempt 1`)
  await eventually(async () => (await server.run(parentId)).status).toBe('suspended')
  const children = () => server.itemsOf<Shown>('/runs?agentId=child&include=input,result')
  expect(await children()).toMatchObject([{ parentRunId: parentId, status: 'running' }])
  const [child] = await children()
  return { server, parentId, childId: child?.id ?? '', children }
}

describe('a run that waits for its child', () => {
  it('receives the result of a child that was killed while it executed', async () => {
    const { server, parentId, childId, children } = await startFamily('kill')

    await server.restart()
    await eventually(() => server.ledger()).toContain('child kill attempt 2')
    expect((await server.run(parentId)).status).toBe('suspended')
    server.openGate('kill')

    await eventually(async () => (await server.run(parentId)).status).toBe('completed')
    const result = { gate: 'kill', doubled: 42 }
    expect((await server.run(parentId)).result).toEqual({ answer: result })
    expect(await children()).toMatchObject([{ id: childId, status: 'completed', result, attempt: 2 }])
    expect(server.ledger().slice(2)).toEqual(['worked kill', 'after kill'])
  })

  it('receives the result of a child that ended right before the kill', async () => {
    const { server, parentId, childId } = await startFamily('late')
    server.openGate('late')
    await eventually(async () => (await server.run(childId)).status).toBe('completed')

    await server.restart()

    await eventually(async () => (await server.run(parentId)).status).toBe('completed')
    expect((await server.run(parentId)).result).toEqual({ answer: { gate: 'late', doubled: 42 } })
    expect(server.ledger().filter((line) => line === 'worked late')).toHaveLength(1)
  })

  it('permanently aborts its child when it is aborted itself', async () => {
    const { server, parentId, childId } = await startFamily('abort')

    const aborted = await server.post(`/runs/${parentId}/abort`, {})

    expect(aborted).toMatchObject({ status: 200, body: { status: 'aborted' } })
    await eventually(async () => (await server.run(childId)).status).toBe('aborted')
    await server.restart()
    server.openGate('abort')
    await server.post('/agents/echo/run', { input: 'later' })
    expect((await server.run(parentId)).status).toBe('aborted')
    expect((await server.run(childId)).status).toBe('aborted')
    expect(server.ledger()).toEqual(['child abort attempt 1'])
  })
})
