import { startPerdure } from '../harness/perdure.ts'
import { alternate } from '../harness/rounds.ts'
import { inFolder, type ServerProcess } from '../harness/server-process.ts'
import { openSockets, type SocketClients } from '../harness/sockets.ts'
import type { BenchCase } from './bench-case.ts'
import { MANY, PROTOCOLS, pause, post, SUBJECT, TALK } from './fan-out.ts'

const READING = 900
const STALLED = 100

/** More than the buffers of a connection hold, so that the server has to wait for the stalled clients. */
const FLOOD = { events: 600, bytes: 16_000 }
const FLOODED = 'session:flooded/events'

/** Lasts long enough for the server to disconnect the stalled clients before the events end. */
const TRICKLE = { events: 300, bytes: 1_000, everyMs: 50 }

const SETTLING_MS = 15_000

async function latency(perdure: ServerProcess, reading: SocketClients): Promise<number> {
  await post(perdure, TALK, { input: FLOOD, sessionId: 'flooded' })
  const trickle = () => post(perdure, TALK, { input: TRICKLE, sessionId: 'bench' })
  return (await reading.receive(TRICKLE.events, trickle)).p99Ms
}

export const stalledSockets: BenchCase = {
  id: 'F5D',
  title: `latency of ${READING} WebSockets next to ${STALLED} that read nothing`,
  run: (effort) =>
    inFolder(async (folder) => {
      const perdure = await startPerdure({ folder, env: MANY })
      for (const id of ['bench', 'flooded']) await post(perdure, '/v1/sessions', { id })
      const plan = { url: `ws://127.0.0.1:${perdure.port}/v1/ws`, protocols: PROTOCOLS }
      const reading = await openSockets({ ...plan, sockets: READING, subjects: [SUBJECT] })
      const memory = { floor: [] as number[], subject: [] as number[] }
      try {
        const figures = await alternate(effort.rounds, {
          async floor() {
            const p99 = await latency(perdure, reading)
            await pause(SETTLING_MS)
            memory.floor.push(perdure.rss() / 2 ** 20)
            return p99
          },
          async subject() {
            const stalled = await openSockets({
              ...plan,
              sockets: STALLED,
              subjects: [SUBJECT, FLOODED],
              isStalled: true,
            })
            const p99 = await latency(perdure, reading)
            await stalled.close()
            await pause(SETTLING_MS)
            memory.subject.push(perdure.rss() / 2 ** 20)
            return p99
          },
        })
        const note = 'floor: without stalled clients'
        return [
          { case: 'F5D', variant: 'p99 latency of reading clients', unit: 'ms', ...figures, goal: { atMost: 2 }, note },
          { case: 'F5D', variant: 'memory afterwards', unit: 'MiB', ...memory, goal: { atMost: 1.2 }, note },
        ]
      } finally {
        await reading.close()
        await perdure.stop('SIGKILL')
      }
    }),
}
