import { join } from 'node:path'
import { expect, it } from 'vitest'
import { needsTool } from '../tooling/needed-tool.ts'
import { type ClusterNode, LEASE_MS, startCluster } from './cluster-servers.ts'
import { eventually } from './durable-server.ts'
import { HOOK_SECRET, HOOK_SENDERS } from './hook-senders.ts'

const HOOKS_CONFIG = join(import.meta.dirname, 'fixtures/hooks.config.mjs')

/** Generous: the machine may be slow. The printed times are the measure. */
const TAKEOVER_MS = 30_000

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const print = (what: string, since: number) => process.stderr.write(`${what}: ${Date.now() - since} ms\n`)

/** The attempt of a run is `running`, as seen by this node. */
const runsAgain = (node: ClusterNode, runId: string) =>
  expect
    .poll(() => node.run(runId), { interval: 20, timeout: TAKEOVER_MS })
    .toMatchObject({
      status: 'running',
      attempt: 2,
    })

interface ListedNode {
  readonly id: string
  readonly status: string
  readonly answered: boolean
  readonly runs: number
  readonly duties: readonly string[]
}

interface Handled {
  readonly status: string
  readonly input: { readonly order: string }
}

const ALL_RUNS = '/runs?agentId=handle&include=input&limit=200&order=asc'

interface Health {
  readonly nodes?: { readonly ready: number; readonly draining: number }
}

needsTool('postgres').describe('servers that share a schema', () => {
  it('continue the workflows of a killed server: the executing, the sleeping and the waiting ones', async () => {
    const cluster = await startCluster(3)
    const [killed, ...others] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode]
    const [held, napping, waiting] = [
      await killed.execute('held', 'held', { gate: 'g' }),
      await killed.execute('sleeper', 'nap', { ms: 1_500 }),
      await killed.execute('waiter', 'bell', { event: 'bell' }),
    ]
    await eventually(() => cluster.ledger()).toContain('begun g')
    await eventually(async () => (await others[0].run(waiting)).status).toBe('suspended')

    const killedAt = Date.now()
    await killed.kill('SIGKILL')
    await runsAgain(others[0], held)
    print('kill to running on another server', killedAt)
    cluster.openGate('g')
    const resumed = await others[1].call('POST', '/workflows/waiter/resume', {
      body: { threadId: 'bell', payload: { rings: 3 } },
    })

    expect(resumed.status).toBe(202)
    for (const [runId, result] of [
      [held, 'ended'],
      [napping, { slept: 1_500 }],
      [waiting, { before: 'before', payload: { rings: 3 } }],
    ] as const) {
      await eventually(async () => (await others[1].run(runId)).status).toBe('completed')
      expect(await others[0].run(runId)).toMatchObject({ result })
    }
    expect(cluster.ledger().toSorted()).toEqual(['before bell', 'begun g', 'late g', 'woke nap'])
  })

  it('continue the runs of a server that stops in order at once', async () => {
    const cluster = await startCluster(2)
    const [stopped, other] = cluster.nodes as [ClusterNode, ClusterNode]
    const runId = await stopped.execute('held', 'held', { gate: 'g' })
    await eventually(() => cluster.ledger()).toContain('begun g')

    const stoppedAt = Date.now()
    const stopping = stopped.kill('SIGTERM')
    await runsAgain(other, runId)
    print('SIGTERM to running on another server, after a drain of 300 ms', stoppedAt)

    expect(await stopping).toEqual({ code: 0, signal: null })
    expect(Date.now() - stoppedAt).toBeLessThan(TAKEOVER_MS)
    cluster.openGate('g')
    await eventually(async () => (await other.run(runId)).status).toBe('completed')
  })

  it('take over from a server that is drained on request, which stays and answers reads', async () => {
    const cluster = await startCluster(2)
    const [drained, other] = cluster.nodes as [ClusterNode, ClusterNode]
    const runId = await drained.execute('held', 'held', { gate: 'g' })
    await eventually(() => cluster.ledger()).toContain('begun g')
    const list = async () => (await other.call<{ items: readonly ListedNode[] }>('GET', '/nodes')).body.items
    const node = (await list()).find(({ answered, runs }) => !answered && runs === 1)

    expect((await other.call('POST', `/nodes/${node?.id}/drain`)).status).toBe(202)
    await runsAgain(other, runId)
    cluster.openGate('g')
    await eventually(async () => (await other.run(runId)).status).toBe('completed')
    expect((await drained.call('GET', '/health/ready')).status).toBe(503)
    expect((await drained.run(runId)).status).toBe('completed')
    expect((await list()).map(({ id, status, duties }) => ({ id, status, free: duties.length === 0 }))).toContainEqual({
      ...{ id: node?.id, status: 'draining', free: true },
    })
    await eventually(async () => (await other.call<Health>('GET', '/health')).body.nodes).toMatchObject({
      ...{ ready: 1, draining: 1 },
    })
    expect(await drained.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })

  it('take over from a server that is paused, which writes nothing more and exits with 75', async () => {
    const cluster = await startCluster(2)
    const [paused, other] = cluster.nodes as [ClusterNode, ClusterNode]
    const runId = await paused.execute('held', 'held', { gate: 'g' })
    await eventually(() => cluster.ledger()).toContain('begun g')

    process.kill(paused.pid, 'SIGSTOP')
    await runsAgain(other, runId)
    cluster.openGate('g')
    await eventually(async () => (await other.run(runId)).status).toBe('completed')
    const events = async () =>
      (await other.call<{ items: readonly { type: string }[] }>('GET', `/runs/${runId}/events?limit=200`)).body.items
    const before = await events()
    process.kill(paused.pid, 'SIGCONT')

    expect(await paused.kill('SIGCONT')).toEqual({ code: 75, signal: null })
    expect(paused.stderr()).toContain('other servers have taken over the work of this one')
    expect(await events()).toEqual(before)
    expect(before.filter(({ type }) => type === 'run.completed')).toHaveLength(1)
  })

  it('execute the runs that one of them has accepted, as many at once as all of them have slots', async () => {
    const cluster = await startCluster(3, { PERDURE_RUNS_CONCURRENCY: '1' })
    const [first, ...others] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode]
    const gates = ['a', 'b', 'c', 'd']
    const runIds: string[] = []
    for (const gate of gates) runIds.push(await first.execute('held', gate, { gate }))

    const begun = () => cluster.ledger().filter((line) => line.startsWith('begun'))
    await eventually(() => begun().length).toBe(3)
    await pause(1_500)
    expect(begun().toSorted()).toEqual(['begun a', 'begun b', 'begun c'])
    cluster.openGate('b')
    await eventually(() => begun()).toContain('begun d')

    for (const gate of gates) cluster.openGate(gate)
    for (const runId of runIds) await eventually(async () => (await others[0].run(runId)).status).toBe('completed')
    expect(begun()).toHaveLength(4)
  })

  it('execute the runs of a session one at a time and in order, whichever of them accepts a run', async () => {
    const cluster = await startCluster(3)
    const { nodes } = cluster
    const [first] = nodes as [ClusterNode]
    const session = await first.call('POST', '/sessions', { body: {} })
    const sessionId = session.body.id
    const runIds: string[] = []
    for (let n = 0; n < 9; n++) {
      const node = nodes[n % nodes.length] as ClusterNode
      const headers = { Prefer: 'respond-async' }
      const accepted = await node.call('POST', '/agents/serial/run', { body: { input: {}, sessionId }, headers })
      expect(accepted.status).toBe(202)
      runIds.push(accepted.body.runId)
    }
    for (const runId of runIds) await eventually(async () => (await first.run(runId)).status).toBe('completed')

    const lines = cluster.ledger().map((line) => line.split(' ').slice(0, 2).join(' '))
    expect(lines).toEqual(runIds.flatMap((runId) => [`begin ${runId}`, `end ${runId}`]))
  })

  it('start no more runs in a period than a rate limit permits, whichever of them receive the requests', async () => {
    const cluster = await startCluster(3)
    const keys = Array.from({ length: 12 }, (_, index) => `key-${index}`)
    const start = (key: string, request: number) => {
      const node = cluster.nodes[request % cluster.nodes.length] as ClusterNode
      return node.call('POST', '/agents/rated/run', { body: { input: { key } }, headers: { Prefer: 'respond-async' } })
    }
    const startsOf = (key: string) => cluster.ledger().filter((line) => line === `rated ${key}`).length

    for (const some of [keys.slice(0, 4), keys.slice(4, 8), keys.slice(8)]) {
      const answers = await Promise.all(
        some.flatMap((key) => Array.from({ length: 8 }, (_, request) => start(key, request))),
      )
      expect(answers.every(({ status }) => status === 202)).toBe(true)
    }
    for (const key of keys) await eventually(() => startsOf(key)).toBeGreaterThanOrEqual(3)
    await pause(3_000)

    expect(keys.map(startsOf)).toEqual(keys.map(() => 3))
  })

  it('start one run for a key that all of them receive at once', async () => {
    const cluster = await startCluster(3)
    const start = (node: ClusterNode) =>
      node.call('POST', '/workflows/waiter/execute', {
        body: { input: { event: 'bell' } },
        headers: { 'Idempotency-Key': 'once' },
      })
    const answers = await Promise.all([...cluster.nodes, ...cluster.nodes].map(start))
    const accepted = answers.filter(({ status }) => status === 202)
    expect(accepted.length).toBeGreaterThan(0)
    expect(new Set(accepted.map(({ body }) => body.runId)).size).toBe(1)
    expect(answers.every(({ status }) => status === 202 || status === 409)).toBe(true)
  })

  it('refuse a server that does not share the schema', async () => {
    const cluster = await startCluster(1)
    await expect(cluster.start({ PERDURE_STORAGE_CLUSTER: 'false' })).rejects.toThrow('error[storage-locked]')
  })

  it('keep their leases while they work', async () => {
    const cluster = await startCluster(2)
    await pause(2 * LEASE_MS)
    for (const node of cluster.nodes) expect((await node.call('GET', '/health/ready')).status).toBe(200)
  })

  it('handle each webhook once whose platform sends it to two of them at once, and again after one was killed', async () => {
    const cluster = await startCluster(2, { HOOK_SECRET }, HOOKS_CONFIG)
    const [killed, other] = cluster.nodes as [ClusterNode, ClusterNode]
    const deliver = async (node: ClusterNode, [platform, order]: readonly [keyof typeof HOOK_SENDERS, string]) => {
      const { body, headers } = HOOK_SENDERS[platform].attempt(order, Date.now())
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } }
      return (await fetch(`${node.url}/hooks/${platform}`, init)).status
    }
    const platforms = Object.keys(HOOK_SENDERS) as readonly (keyof typeof HOOK_SENDERS)[]
    const ordersOf = (round: string) =>
      platforms.flatMap((platform) => [0, 1, 2].map((number) => [platform, `${platform}-${round}-${number}`] as const))
    const runsOf = async (round: string) => {
      const { body } = await other.call<{ readonly items: readonly Handled[] }>('GET', ALL_RUNS)
      const runs = body.items.filter(({ input }) => input.order.includes(`-${round}-`))
      return runs.map(({ status, input }) => `${input.order} ${status}`).sort()
    }
    const completed = (round: string) =>
      ordersOf(round)
        .map(([, order]) => `${order} completed`)
        .sort()

    const quiet = ordersOf('quiet')
    const statuses = await Promise.all([killed, other].flatMap((node) => quiet.map((order) => deliver(node, order))))
    expect(new Set(statuses)).toEqual(new Set([200]))
    await eventually(() => runsOf('quiet')).toEqual(completed('quiet'))
    expect(cluster.ledger().toSorted()).toEqual(quiet.map(([, order]) => order).sort())

    const cut = ordersOf('cut')
    const sent = [killed, other].flatMap((node) => cut.map((order) => deliver(node, order).catch(() => 'cut')))
    await Promise.race(sent)
    await killed.kill('SIGKILL')
    await Promise.all(sent)
    expect(new Set(await Promise.all(cut.map((order) => deliver(other, order))))).toEqual(new Set([200]))
    await eventually(() => runsOf('cut')).toEqual(completed('cut'))
  })
})
