import { JSON_HEADERS, startPerdure } from '../harness/perdure.ts'
import { alternate, type Comparison } from '../harness/rounds.ts'
import { inFolder, type ServerProcess, startFloor } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'

const EVENTS = 1_000
/** Streams per measurement: a single stream is too short to measure. */
const STREAMS = 10
/** Measurements whose results are discarded. */
const WARM_UPS = 3
const NEEDLE = 'event: text.delta'

/** Streams one run. Returns the milliseconds to its first event and to its end. */
async function stream({ port }: ServerProcess, path: string) {
  const startedAt = performance.now()
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { ...JSON_HEADERS, Accept: 'text/event-stream' },
    body: JSON.stringify({ input: { events: EVENTS } }),
  })
  let firstMs = Number.NaN
  let events = 0
  const decoder = new TextDecoder()
  for await (const bytes of response.body ?? []) {
    const found = decoder.decode(bytes, { stream: true }).split(NEEDLE).length - 1
    if (events === 0 && found > 0) firstMs = performance.now() - startedAt
    events += found
  }
  // The count misses the few events that two chunks split; a stream that lost events would miss many more.
  if (events < EVENTS - 50) throw new Error(`${path} streamed ${events} events`)
  return { firstMs, ms: performance.now() - startedAt }
}

export const streamedRun: BenchCase = {
  id: 'F4',
  title: 'durable run of 1,000 events, streamed to one SSE client',
  run: ({ rounds }) =>
    inFolder(async (folder) => {
      const floor = await startFloor('sse-stream', { FLOOR_DATABASE: `${folder}/floor.db` })
      const perdure = await startPerdure({ folder })
      const first = { floor: [] as number[], subject: [] as number[] }
      const measure = async (kind: 'floor' | 'subject') => {
        const server = kind === 'floor' ? floor : perdure
        const path = kind === 'floor' ? '/' : '/v1/agents/talk/stream'
        let totalMs = 0
        for (let count = 0; count < STREAMS; count++) {
          const { firstMs, ms } = await stream(server, path)
          totalMs += ms
          first[kind].push(firstMs)
        }
        return (EVENTS * STREAMS) / (totalMs / 1_000)
      }
      try {
        for (let count = 0; count < WARM_UPS; count++) await Promise.all([measure('floor'), measure('subject')])
        for (const figures of Object.values(first)) figures.length = 0
        const figures = await alternate(rounds, { floor: () => measure('floor'), subject: () => measure('subject') })
        const rows: Comparison[] = [
          { case: 'F4', variant: 'run streamed to one client', unit: 'events/s', ...figures, goal: { atLeast: 0.5 } },
          { case: 'F4', variant: 'first event', unit: 'ms', ...first, goal: { atMost: 3 } },
        ]
        return rows
      } finally {
        await Promise.all([floor.stop(), perdure.stop()])
      }
    }),
}
