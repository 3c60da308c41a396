import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type DurableServer, eventually, startDurableServer } from './durable-server.ts'
import { perdure } from './perdure-process.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/deploy.config.mjs')

type Code = 'old' | 'changed' | 'branched' | 'beside' | 'fails'

/** Kills the server and starts it with other code. */
async function deploy(server: DurableServer, code: Code): Promise<void> {
  server.sandbox.env.E2E_CODE = code
  await server.restart('SIGKILL')
}

/** Starts a payment with the old code and waits until it asks for its approval. */
async function waitingPayment() {
  const server = await startDurableServer(CONFIG, { E2E_CODE: 'old' })
  const runId = await server.execute('payment', 'order-1', { order: 'order-1' })
  await eventually(async () => (await server.run(runId)).status).toBe('suspended')
  return { server, runId }
}

async function approve(server: DurableServer, runId: string): Promise<void> {
  const [approval] = await server.approvals(runId)
  expect(await server.resolve(approval?.id ?? '', true)).toMatchObject({ status: 200 })
}

const waits = async (server: DurableServer) => (await server.state('payment', 'order-1')).waitingFor

const PARKED = { kind: 'code', seq: 1, expected: 'approval pay', found: 'step check' }

describe('new code under a run that waits for an approval', () => {
  it('parks the run when it is approved, over kills too, and completes it once the old code is back', async () => {
    const { server, runId } = await waitingPayment()
    await deploy(server, 'changed')
    await approve(server, runId)
    await eventually(() => waits(server)).toEqual([PARKED])
    const before = await server.events(runId)
    await server.restart('SIGKILL')
    await eventually(async () => (await server.run(runId)).status).toBe('suspended')
    const again = await server.post(`/runs/${runId}/resume`, {})
    expect(again).toMatchObject({ status: 200, body: { status: 'suspended', waitingFor: [PARKED] } })
    expect(await server.events(runId)).toEqual(before)

    await deploy(server, 'old')

    await eventually(async () => (await server.run(runId)).status).toBe('completed')
    expect(server.ledger()).toEqual(['transfer order-1 true'])
  })

  it.each([
    ['registered beside the new version', 'beside'],
    ['kept behind ctx.version', 'branched'],
  ] as const)('completes the run with the old code %s', async (_, code) => {
    const { server, runId } = await waitingPayment()
    await deploy(server, 'changed')
    await approve(server, runId)
    await eventually(() => waits(server)).toEqual([PARKED])

    await deploy(server, code)

    await eventually(async () => (await server.run(runId)).status).toBe('completed')
    expect(server.ledger()).toEqual(['transfer order-1 true'])
    const newer = await server.execute('payment', 'order-2', { order: 'order-2' })
    await eventually(async () => (await server.run(newer)).status).toBe('suspended')
    await server.restart('SIGKILL')
    await approve(server, newer)
    await eventually(async () => (await server.run(newer)).status).toBe('completed')
    expect(server.ledger()).toEqual(['transfer order-1 true', 'check order-2', 'transfer order-2 true'])
  })

  it('fails the run with workflows.onDivergence fail', async () => {
    const { server, runId } = await waitingPayment()
    await deploy(server, 'fails')
    await approve(server, runId)

    await eventually(async () => (await server.run(runId)).status).toBe('failed')
    expect(await server.run(runId)).toMatchObject({ error: { code: 'workflow-divergence' } })
    expect(server.ledger()).toEqual([])
  })

  it('is reported by workflows check before the deployment, beside the running server, without a change', async () => {
    const { server, runId } = await waitingPayment()
    const before = [await server.run(runId), await server.events(runId)]
    const { sandbox } = server
    const check = (code: Code) =>
      perdure({ ...sandbox, env: { ...sandbox.env, E2E_CODE: code } }, [
        ...['workflows', 'check', '--config', CONFIG, '--json'],
      ])

    const bad = await check('changed')
    expect([bad.code, JSON.parse(bad.stdout)]).toMatchObject([
      1,
      { ok: false, checked: 1, problems: [{ runId, target: 'workflow payment', problem: 'parks' }] },
    ])
    expect(bad.stdout).toContain('call 1 is recorded as approval pay, but the code calls step check')
    for (const code of ['old', 'beside', 'branched'] as const) {
      const good = await check(code)
      expect([good.code, JSON.parse(good.stdout)]).toEqual([0, { ok: true, checked: 1, problems: [] }])
    }

    expect([await server.run(runId), await server.events(runId)]).toEqual(before)
    expect(server.ledger()).toEqual([])
  })
})
