import { globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { WebSocket } from 'ws'
import { bearer, type Place, startServer } from '../perdure-process.ts'
import { pickDeed, type Verify } from './deeds.ts'
import { checkInvariants } from './invariants.ts'
import { prepare } from './kills.ts'
import { type Sample, trendsOf } from './trends.ts'
import { openWorld, pause, SERVE, type World } from './world.ts'

export interface SoakOptions {
  readonly seed: number
  readonly minutes: number
  readonly sockets: number
  /** Between two restarts, alternately by SIGTERM and SIGKILL. */
  readonly lifeMinutes: number
  readonly onSample?: (sample: Sample) => void
}

/** So that what a life leaves behind is old enough to be removed in the next one. */
const DAYS_BETWEEN_LIVES = 2
const KEPT_FOR_A_DAY = {
  ...{ PERDURE_RETENTION_EVENTS_DAYS: '1', PERDURE_RETENTION_RUNS_DAYS: '1', PERDURE_AUDIT_RETENTION_DAYS: '1' },
  E2E_KEY_TTL_SECONDS: '86400',
}
const SAMPLES_IN_A_LIFE = 120

/**
 * Clients at half of what the server was measured to do, with sockets that come and go, a trigger and restarts. Fails on
 * what grows: memory, descriptors, the log, the file (`trends.ts`); and on the invariants, for all that is not old yet.
 */
export async function soak({ seed, minutes, sockets, lifeMinutes, onSample }: SoakOptions) {
  let days = 0
  const start = (place: Place) => startServer(laterBy(days, place), SERVE)
  const world = await openWorld({ seed, env: KEPT_FOR_A_DAY, start })
  try {
    await prepare(world)
    const target = { agentId: 'ledger', input: {} }
    const tick = { id: 'tick', kind: 'interval', intervalMs: 1_000, overlap: 'allow', target }
    await world.ask({ path: '/triggers', key: 'tick', body: tick })
    const capacity = await measureCapacity(world)
    const followers = openSockets(world, sockets)
    const samples: Sample[] = []
    const lives = Math.max(1, Math.round(minutes / lifeMinutes))
    let deeds = 0
    for (let life = 0; life < lives; life++) {
      const began = performance.now()
      const end = began + lifeMinutes * 60_000
      const note = () => {
        const sample = { ...look(world), life, seconds: (performance.now() - began) / 1_000 }
        samples.push(sample)
        onSample?.(sample)
      }
      const sampling = setInterval(note, (lifeMinutes * 60_000) / SAMPLES_IN_A_LIFE)
      const { verifies, count } = await work(world, { end, perSecond: capacity / 2, name: `d${life}` })
      clearInterval(sampling)
      deeds += count
      const isLast = life === lives - 1
      await world.kill(life % 2 === 0 ? 'SIGTERM' : 'SIGKILL')
      if (!isLast) days += DAYS_BETWEEN_LIVES
      await world.start()
      if (isLast) await checkInvariants(world, verifies)
      world.kept.clear()
    }
    followers.close()
    const { violations, ...trends } = trendsOf(samples)
    for (const violation of violations) world.violate('flat', violation)
    return { capacity, deeds, heard: followers.heard(), samples, trends, violations: world.violations }
  } finally {
    await world.end()
  }
}

/** Asks so often until the end, whether it is answered or not, and then waits for all answers. */
async function work(world: World, { end, perSecond, name }: { end: number; perSecond: number; name: string }) {
  const verifies: Verify[] = []
  const open = new Set<Promise<void>>()
  let count = 0
  for (let next = performance.now(); performance.now() < end; next += 1_000 / perSecond) {
    await pause(Math.max(0, next - performance.now()))
    if (open.size >= MOST_OPEN) continue
    const deed: Promise<void> = pickDeed(world.random)(world, `${name}-${count++}`)
      .then((verify) => void verifies.push(verify))
      .finally(() => open.delete(deed))
    open.add(deed)
  }
  await Promise.all(open)
  return { verifies, count }
}

const MOST_OPEN = 200

function laterBy(days: number, { dir, env }: Place): Place {
  const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1')
  if (library === undefined) throw new Error('libfaketime is missing: apt-get install libfaketime')
  const clock = { LD_PRELOAD: library, FAKETIME: `+${days}d`, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
  return { dir, env: { ...env, ...clock } }
}

/** Deeds a second of clients that ask without a pause. */
async function measureCapacity(world: World): Promise<number> {
  const [clients, seconds] = [16, 20]
  const end = performance.now() + seconds * 1_000
  let done = 0
  const client = async (number: number) => {
    for (let n = 0; performance.now() < end; n++, done++) await pickDeed(world.random)(world, `m${number}-${n}`)
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return done / seconds
}

/** WebSockets on the session that many runs speak in; one a second goes, and each comes back when it is cut off. */
function openSockets(world: World, count: number) {
  let isOver = false
  let heard = 0
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
    socket.on('message', () => heard++)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      setTimeout(connect, 200)
    })
  }
  for (let n = 0; n < count; n++) connect()
  const leaving = setInterval(() => [...sockets][0]?.terminate(), 1_000)
  return {
    heard: () => heard,
    close() {
      isOver = true
      clearInterval(leaving)
      for (const socket of sockets) socket.terminate()
    },
  }
}

const MIB = 1_048_576
const sizeMiB = (path: string) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / MIB

function look({ server, databasePath }: World) {
  const { pid } = server().process
  const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
  return {
    rssMiB: rss,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    ...{ walMiB: sizeMiB(`${databasePath}-wal`), fileMiB: sizeMiB(databasePath) },
  }
}
