import { JSON_HEADERS, startPerdure } from '../harness/perdure.ts'
import { alternate, type Comparison } from '../harness/rounds.ts'
import { inFolder, type ServerProcess, startFloor } from '../harness/server-process.ts'
import { openSockets, type SocketPlan } from '../harness/sockets.ts'
import type { BenchCase, Effort } from './bench-case.ts'

const EVENTS = 1_000
export const TALK = '/v1/agents/talk/run'
export const MANY = {
  PERDURE_SERVER_MAX_CONNECTIONS: '20000',
  PERDURE_SERVER_MAX_CONNECTIONS_PER_ADDRESS: '20000',
  PERDURE_REALTIME_WEB_SOCKET_MAX_CONNECTIONS: '20000',
  PERDURE_REALTIME_WEB_SOCKET_MAX_CONNECTIONS_PER_TOKEN: '20000',
}
export const SUBJECT = 'session:bench/events'
export const PROTOCOLS = ['svc.protocol.v1']

export const post = async ({ port }: ServerProcess, path: string, body: object) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    ...{ method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(body) },
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  await response.arrayBuffer()
}

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const PERDURE = (port: number) => ({ url: `ws://127.0.0.1:${port}/v1/ws`, protocols: PROTOCOLS, subjects: [SUBJECT] })
const FLOOR = (port: number) => ({ url: `ws://127.0.0.1:${port}/`, protocols: [] })

/** Starts both servers and creates a session to subscribe to. */
async function withServers<T>(use: (floor: ServerProcess, perdure: ServerProcess) => Promise<T>): Promise<T> {
  return inFolder(async (folder) => {
    const floor = await startFloor('ws-fanout')
    const perdure = await startPerdure({ folder, env: MANY })
    try {
      await post(perdure, '/v1/sessions', { id: 'bench' })
      return await use(floor, perdure)
    } finally {
      await Promise.all([floor.stop('SIGKILL'), perdure.stop('SIGKILL')])
    }
  })
}

const compare = (sockets: number, { rounds }: Effort): Promise<Comparison> =>
  withServers(async (floor, perdure) => {
    const onFloor = await openSockets({ ...FLOOR(floor.port), sockets })
    const onPerdure = await openSockets({ ...PERDURE(perdure.port), sockets })
    const run = { input: { events: EVENTS }, sessionId: 'bench' }
    const perSecond = (ms: number) => (EVENTS * sockets) / (ms / 1_000)
    try {
      const figures = await alternate(rounds, {
        floor: async () => perSecond((await onFloor.receive(EVENTS, () => post(floor, '/', { events: EVENTS }))).ms),
        subject: async () => perSecond((await onPerdure.receive(EVENTS, () => post(perdure, TALK, run))).ms),
      })
      return {
        case: 'F5',
        variant: `fan-out to ${sockets} sockets`,
        unit: 'events/s',
        ...figures,
        goal: { atLeast: 0.6 },
      }
    } finally {
      await Promise.all([onFloor.close(), onPerdure.close()])
    }
  })

const idleMemory = (sockets: number): Promise<Comparison> =>
  withServers(async (floor, perdure) => {
    /** The average resident memory per socket, including heap growth. */
    const perSocket = async (server: ServerProcess, plan: Omit<SocketPlan, 'sockets'>) => {
      const before = server.rss()
      const idle = await openSockets({ ...plan, sockets })
      await pause(1_000)
      const kib = (server.rss() - before) / sockets / 1_024
      await idle.close()
      return [kib]
    }
    const variant = `memory per idle socket (${sockets} open)`
    const figures = {
      floor: await perSocket(floor, FLOOR(floor.port)),
      subject: await perSocket(perdure, PERDURE(perdure.port)),
    }
    return { case: 'F5', variant, unit: 'KiB', ...figures, goal: { atMost: 2 } }
  })

export const fanOut: BenchCase = {
  id: 'F5',
  title: 'fan-out of 1,000 events to many WebSockets, and memory per idle socket',
  async run(effort) {
    const rows: Comparison[] = []
    for (const sockets of effort.isQuick ? [100, 1_000] : [100, 1_000, 10_000])
      rows.push(await compare(sockets, effort))
    rows.push(await idleMemory(effort.isQuick ? 2_000 : 10_000))
    return rows
  },
}
