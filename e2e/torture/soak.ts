import { readdirSync, statSync } from 'node:fs'
import { WebSocket } from 'ws'
import { clockAhead } from '../faked-clock.ts'
import { bearer, type Sandbox, startServer } from '../perdure-process.ts'
import { residentMiB } from '../resident-mib.ts'
import { pickAction, type Verify } from './client-actions.ts'
import { checkInvariants } from './invariants.ts'
import { prepare } from './kills.ts'
import { type Sample, trendsOf } from './trends.ts'
import { openWorld, pause, SERVE, type World } from './world.ts'

export interface SoakOptions {
  readonly seed: number
  readonly minutes: number
  readonly sockets: number
  /** Minutes between restarts, alternately by SIGTERM and SIGKILL. */
  readonly periodMinutes: number
  readonly onSample?: (sample: Sample) => void
}

/** Makes the data of one period old enough for retention to remove it in the next period. */
const DAYS_BETWEEN_PERIODS = 2
const DAY_MS = 86_400_000
const KEPT_FOR_A_DAY = {
  ...{ PERDURE_RETENTION_EVENTS_DAYS: '1', PERDURE_RETENTION_RUNS_DAYS: '1', PERDURE_AUDIT_RETENTION_DAYS: '1' },
  E2E_KEY_TTL_SECONDS: '86400',
}
const SAMPLES_PER_PERIOD = 120

/**
 * Runs clients at half of the measured capacity, with WebSockets that reconnect, a trigger and restarts. Fails when
 * memory, descriptors, the WAL or the file grow (`trends.ts`), or when an invariant of recent data is violated.
 */
export async function soak({ seed, minutes, sockets, periodMinutes, onSample }: SoakOptions) {
  let days = 0
  const start = (sandbox: Sandbox) => startServer(clockAhead(sandbox, days * DAY_MS), SERVE)
  const world = await openWorld({ seed, env: KEPT_FOR_A_DAY, start })
  try {
    await prepare(world)
    const target = { agentId: 'ledger', input: {} }
    const tick = { id: 'tick', kind: 'interval', intervalMs: 1_000, overlap: 'allow', target }
    await world.ask({ path: '/triggers', key: 'tick', body: tick })
    const capacity = await measureCapacity(world)
    const followers = openSockets(world, sockets)
    const samples: Sample[] = []
    const periods = Math.max(1, Math.round(minutes / periodMinutes))
    let actions = 0
    for (let period = 0; period < periods; period++) {
      const began = performance.now()
      const end = began + periodMinutes * 60_000
      const note = () => {
        const sample = { ...sampleServer(world), period, seconds: (performance.now() - began) / 1_000 }
        samples.push(sample)
        onSample?.(sample)
      }
      const sampling = setInterval(note, (periodMinutes * 60_000) / SAMPLES_PER_PERIOD)
      const { verifies, count } = await runClients(world, { end, perSecond: capacity / 2, name: `d${period}` })
      clearInterval(sampling)
      actions += count
      const isLast = period === periods - 1
      await world.kill(period % 2 === 0 ? 'SIGTERM' : 'SIGKILL')
      if (!isLast) days += DAYS_BETWEEN_PERIODS
      await world.start()
      if (isLast) await checkInvariants(world, verifies)
      world.recorded.clear()
    }
    followers.close()
    const { violations, ...trends } = trendsOf(samples)
    for (const violation of violations) world.violate('flat', violation)
    return { capacity, actions, received: followers.received(), samples, trends, violations: world.violations }
  } finally {
    await world.end()
  }
}

/** Starts actions at a fixed rate until the end, whether answered or not, then waits for all of them. */
async function runClients(world: World, { end, perSecond, name }: { end: number; perSecond: number; name: string }) {
  const verifies: Verify[] = []
  const open = new Set<Promise<void>>()
  let count = 0
  for (let next = performance.now(); performance.now() < end; next += 1_000 / perSecond) {
    await pause(Math.max(0, next - performance.now()))
    if (open.size >= MAX_OPEN) continue
    const action: Promise<void> = pickAction(world.random)(world, `${name}-${count++}`)
      .then((verify) => void verifies.push(verify))
      .finally(() => open.delete(action))
    open.add(action)
  }
  await Promise.all(open)
  return { verifies, count }
}

const MAX_OPEN = 200

/** Actions per second that clients complete without pauses. */
async function measureCapacity(world: World): Promise<number> {
  const [clients, seconds] = [16, 20]
  const end = performance.now() + seconds * 1_000
  let done = 0
  const client = async (number: number) => {
    for (let n = 0; performance.now() < end; n++, done++) await pickAction(world.random)(world, `m${number}-${n}`)
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return done / seconds
}

/** Opens WebSockets on the shared session. One per second is terminated; each reconnects when it is closed. */
function openSockets(world: World, count: number) {
  let isOver = false
  let received = 0
  const sockets = new Set<WebSocket>()
  const connect = () => {
    if (isOver) return
    const socket = new WebSocket(`${world.server().url.replace('http', 'ws')}/ws`, ['svc.protocol.v1'], {
      headers: { authorization: bearer(world.token).authorization },
    })
    sockets.add(socket)
    socket.on('open', () => {
      const send = (id: number, method: string, params: object) =>
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      send(1, 'initialize', {})
      send(2, 'subscription.subscribe', { subject: 'session:hall/events' })
    })
    socket.on('message', () => received++)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      setTimeout(connect, 200)
    })
  }
  for (let n = 0; n < count; n++) connect()
  const leaving = setInterval(() => [...sockets][0]?.terminate(), 1_000)
  return {
    received: () => received,
    close() {
      isOver = true
      clearInterval(leaving)
      for (const socket of sockets) socket.terminate()
    },
  }
}

const MIB = 1_048_576
const sizeMiB = (path: string) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / MIB

function sampleServer({ server, databasePath }: World) {
  const { pid } = server().process
  return {
    rssMiB: residentMiB(pid),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    ...{ walMiB: sizeMiB(`${databasePath}-wal`), fileMiB: sizeMiB(databasePath) },
  }
}
