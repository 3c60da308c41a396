import { readdirSync, readFileSync, statSync } from 'node:fs'
import { WebSocket } from 'ws'
import { bearer } from '../berth-process.ts'
import { pickDeed, type Verify } from './deeds.ts'
import { checkInvariants } from './invariants.ts'
import { prepare } from './kills.ts'
import { openWorld, pause, type World } from './world.ts'

export interface SoakOptions {
  readonly seed: number
  readonly minutes: number
  readonly sockets: number
  /** Between two restarts, alternately by SIGTERM and SIGKILL. */
  readonly lifeMinutes: number
  readonly onSample?: (sample: Sample) => void
}

export interface Sample {
  readonly life: number
  /** Since the start of this life. */
  readonly seconds: number
  readonly rssMiB: number
  readonly descriptors: number
  readonly walMiB: number
  readonly fileMiB: number
  readonly deeds: number
}

const WARM_UP_S = 60
const EVERY_MS = 5_000

/** Clients at half of what the server was measured to do, with sockets, a trigger and restarts. */
export async function soak({ seed, minutes, sockets, lifeMinutes, onSample }: SoakOptions) {
  const world = await openWorld({ seed })
  try {
    await prepare(world)
    const tick = {
      id: 'tick',
      kind: 'interval',
      intervalMs: 1_000,
      overlap: 'allow',
      target: { agentId: 'ledger', input: {} },
    }
    await world.ask({ path: '/triggers', key: 'tick', body: tick })
    const verifies: Verify[] = []
    const capacity = await measureCapacity(world, verifies)
    const followers = openSockets(world, sockets)
    const samples: Sample[] = []
    const end = performance.now() + minutes * 60_000
    let deeds = 0
    let open = 0
    const work = (async () => {
      const everyMs = 1_000 / (capacity / 2)
      for (let next = performance.now(); performance.now() < end; next += everyMs) {
        await pause(Math.max(0, next - performance.now()))
        if (open >= 200) continue
        open++
        const name = `d${deeds++}`
        void pickDeed(world.random)(world, name)
          .then((verify) => verifies.push(verify))
          .finally(() => open--)
      }
    })()
    for (let life = 0; performance.now() < end; life++) {
      const began = performance.now()
      while (performance.now() < Math.min(end, began + lifeMinutes * 60_000)) {
        await pause(EVERY_MS)
        const sample = { ...look(world), life, seconds: Math.round((performance.now() - began) / 1_000), deeds }
        samples.push(sample)
        onSample?.(sample)
      }
      if (performance.now() >= end) break
      await world.kill(life % 2 === 0 ? 'SIGTERM' : 'SIGKILL')
      await world.start()
    }
    await work
    while (open > 0) await pause(50)
    followers.close()
    await world.kill()
    await world.start()
    await checkInvariants(world, verifies)
    return {
      capacity,
      deeds,
      heard: followers.heard(),
      samples,
      slopes: slopesOf(samples),
      violations: world.violations,
    }
  } finally {
    await world.end()
  }
}

/** Deeds a second of clients that ask without a pause. */
async function measureCapacity(world: World, verifies: Verify[]): Promise<number> {
  const [clients, seconds] = [16, 20]
  const end = performance.now() + seconds * 1_000
  let done = 0
  const client = async (number: number) => {
    for (let n = 0; performance.now() < end; n++, done++)
      verifies.push(await pickDeed(world.random)(world, `m${number}-${n}`))
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return done / seconds
}

/** WebSockets on the session that many runs speak in; each comes back when it is cut off. */
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
  return {
    heard: () => heard,
    close() {
      isOver = true
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

/** By the hour, over the part of each life after its warm-up; the file by the thousand deeds, over all. */
function slopesOf(samples: readonly Sample[]) {
  const lives = [...Map.groupBy(samples, ({ life }) => life).values()]
  const settled = lives
    .map((life) => life.filter(({ seconds }) => seconds >= WARM_UP_S))
    .filter(({ length }) => length > 5)
  const perHour = (of: (sample: Sample) => number) =>
    settled.map((life) => slope(life.map((sample) => [sample.seconds / 3_600, of(sample)])))
  return {
    rssMiBPerHour: perHour(({ rssMiB }) => rssMiB),
    descriptorsPerHour: perHour(({ descriptors }) => descriptors),
    maxWalMiB: Math.max(...samples.map(({ walMiB }) => walMiB)),
    fileKiBPerDeed: slope(samples.map(({ deeds, fileMiB }) => [deeds, fileMiB * 1_024])),
  }
}

/** Of the line of least squares. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length
  const [meanX, meanY] = [mean(([x]) => x), mean(([, y]) => y)]
  const covariance = mean(([x, y]) => (x - meanX) * (y - meanY))
  return covariance / mean(([x]) => (x - meanX) ** 2)
}
