import { JSON_HEADERS, startBerth } from '../harness/berth.ts'
import { alternate, type Comparison } from '../harness/rounds.ts'
import { inFolder, type ServerProcess, startFloor } from '../harness/server-process.ts'
import { openSockets } from '../harness/sockets.ts'
import type { BenchCase, Effort } from './bench-case.ts'

const EVENTS = 1_000
export const TALK = '/v1/agents/talk/run'
export const MANY = {
  BERTH_REALTIME_WEB_SOCKET_MAX_CONNECTIONS: '20000',
  BERTH_REALTIME_WEB_SOCKET_MAX_CONNECTIONS_PER_TOKEN: '20000',
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

async function compare(folder: string, sockets: number, { rounds }: Effort): Promise<readonly Comparison[]> {
  const floor = await startFloor('ws-fanout')
  const berth = await startBerth({ folder, env: MANY })
  await post(berth, '/v1/sessions', { id: 'bench' })
  await pause(1_000)
  const atRest = { floor: floor.rss(), subject: berth.rss() }
  const onFloor = await openSockets({ url: `ws://127.0.0.1:${floor.port}/`, sockets, protocols: [] })
  const url = `ws://127.0.0.1:${berth.port}/v1/ws`
  const onBerth = await openSockets({ url, sockets, protocols: PROTOCOLS, subjects: [SUBJECT] })
  await pause(1_000)
  const perSocket = {
    floor: [(floor.rss() - atRest.floor) / sockets / 1_024],
    subject: [(berth.rss() - atRest.subject) / sockets / 1_024],
  }
  const run = { input: { events: EVENTS }, sessionId: 'bench' }
  const perSecond = (ms: number) => (EVENTS * sockets) / (ms / 1_000)
  try {
    const figures = await alternate(rounds, {
      floor: async () => perSecond((await onFloor.hear(EVENTS, () => post(floor, '/', { events: EVENTS }))).ms),
      subject: async () => perSecond((await onBerth.hear(EVENTS, () => post(berth, TALK, run))).ms),
    })
    return [
      { case: 'F5', variant: `fan-out to ${sockets} sockets`, unit: 'events/s', ...figures, goal: { atLeast: 0.6 } },
      { case: 'F5', variant: `memory of a socket, ${sockets} open`, unit: 'KiB', ...perSocket, goal: { atMost: 2 } },
    ]
  } finally {
    await Promise.all([onFloor.close(), onBerth.close()])
    await Promise.all([floor.stop('SIGKILL'), berth.stop('SIGKILL')])
  }
}

export const fanOut: BenchCase = {
  id: 'F5',
  title: 'one run of 1,000 events to many WebSockets, and what an idle one costs',
  async run(effort) {
    const rows: Comparison[] = []
    for (const sockets of effort.isQuick ? [100, 1_000] : [100, 1_000, 10_000]) {
      rows.push(...(await inFolder((folder) => compare(folder, sockets, effort))))
    }
    return rows
  },
}
