import { describe, expect, it } from 'vitest'
import { eventually, startDurableServer } from './durable-server.ts'
import { createToken } from './perdure-process.ts'

const TOOLS = ['anvil', 'bellows', 'chisel']
const ORDERS = [
  ['anvil', 'bellows', 'chisel'],
  ['anvil', 'chisel', 'bellows'],
  ['bellows', 'anvil', 'chisel'],
  ['bellows', 'chisel', 'anvil'],
  ['chisel', 'anvil', 'bellows'],
  ['chisel', 'bellows', 'anvil'],
]

describe('a workflow with parallel tools that wait for approval', () => {
  it('runs each tool once, whatever the order of the decisions and with kills in between', async () => {
    const server = await startDurableServer()
    const bob = await createToken(server.sandbox, 'approvals:resolve,approvals:read', 'bob')
    const threads = await Promise.all(
      ORDERS.map(async (order) => {
        const threadId = order.join('-')
        const runId = await server.execute('tools', threadId, { tools: TOOLS })
        await eventually(async () => (await server.run(runId)).status).toBe('suspended')
        const waitingFor = (await server.state('tools', threadId)).waitingFor
        expect(waitingFor.map(({ kind, name }) => `${kind} ${name}`)).toEqual(TOOLS.map((name) => `approval ${name}`))
        const idOf = (tool: string | undefined) => waitingFor.find(({ name }) => name === tool)?.approvalId ?? ''
        return { order, threadId, runId, idOf }
      }),
    )

    for (const round of TOOLS.keys()) {
      await Promise.all(
        threads.map(async ({ order, threadId, runId, idOf }) => {
          const approvalId = idOf(order[round])
          const decided = await server.resolve(approvalId, true)
          expect(decided).toMatchObject({ status: 200, body: { status: 'approved', by: 'e2e' } })
          const status = round === TOOLS.length - 1 ? 'completed' : 'suspended'
          const ran = () => server.ledger().filter((line) => line === `tool ${threadId} ${order[round]}`)
          await eventually(() => ran().length).toBe(1)
          await eventually(async () => (await server.run(runId)).status).toBe(status)
        }),
      )
      await server.restart()
      await Promise.all(
        threads.map(async ({ order, threadId, runId, idOf }) => {
          const approvalId = idOf(order[round])
          const again = await server.resolve(approvalId, true, bob)
          expect(again).toMatchObject({ status: 200, body: { id: approvalId, status: 'approved', by: 'e2e' } })
          const other = await server.resolve(approvalId, false, bob)
          expect(other).toMatchObject({ status: 409, body: { error: 'approval-resolved' } })
          expect(other.body.message).toContain('e2e')
          const open = (await server.approvals(runId)).map(({ name }) => name)
          expect(open.toSorted()).toEqual(order.slice(round + 1).toSorted())
          const toolsRun = server.ledger().filter((line) => line.startsWith(`tool ${threadId} `))
          expect(toolsRun).toEqual(order.slice(0, round + 1).map((tool) => `tool ${threadId} ${tool}`))
        }),
      )
    }

    for (const { runId } of threads) {
      const run = await server.run(runId)
      expect(run).toMatchObject({ status: 'completed', result: TOOLS.map((of) => ({ ok: true, value: `${of} done` })) })
    }
  })

  it('continues with the first of several conflicting decisions; the others are answered 409', async () => {
    const server = await startDurableServer()
    const votes = [true, false, true, false]
    const threads = await Promise.all(
      ORDERS.map(async (order) => {
        const threadId = order.join('-')
        const runId = await server.execute('tools', threadId, { tools: TOOLS, napMs: 50 })
        await eventually(async () => (await server.run(runId)).status).toBe('suspended')
        return { threadId, runId, order, open: await server.approvals(runId) }
      }),
    )

    const failures: unknown[] = []
    for (const { threadId, runId, order, open } of threads) {
      const answers = await Promise.all(
        order.map(async (tool) => {
          const { id = '' } = open.find(({ name }) => name === tool) ?? {}
          const statuses = await Promise.all(votes.map(async (approved) => (await server.resolve(id, approved)).status))
          return { id, tool, statuses }
        }),
      )
      await eventually(async () => (await server.run(runId)).completedAt).toEqual(expect.any(String))
      const { status, error } = await server.run(runId)
      if (status !== 'completed') failures.push({ threadId, error })
      for (const { id, tool, statuses } of answers) {
        const wasApproved = (await server.get(`/approvals/${id}`)).body.status === 'approved'
        expect(statuses).toEqual(votes.map((approved) => (approved === wasApproved ? 200 : 409)))
        const ran = server.ledger().filter((line) => line === `tool ${threadId} ${tool}`)
        expect(ran).toHaveLength(wasApproved ? 1 : 0)
      }
    }
    expect(failures).toEqual([])
  })
})
