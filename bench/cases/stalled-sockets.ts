import { startPerdure } from '../harness/perdure.ts'
import { alternate } from '../harness/rounds.ts'
import { inFolder, type ServerProcess } from '../harness/server-process.ts'
import { openSockets, type SocketClients } from '../harness/sockets.ts'
import type { BenchCase } from './bench-case.ts'
import { MANY, PROTOCOLS, pause, post, SUBJECT, TALK } from './fan-out.ts'

const LISTENING = 900
const DEAF = 100

/** More than the buffers of a connection hold, so that the deaf ones keep the server waiting. */
const FLOOD = { events: 600, bytes: 16_000 }
const FLOODED = 'session:flooded/events'

/** Long enough for the server to give the deaf ones up meanwhile. */
const TRICKLE = { events: 300, bytes: 1_000, everyMs: 50 }

const SETTLING_MS = 15_000

async function lateness(perdure: ServerProcess, listening: SocketClients): Promise<number> {
  await post(perdure, TALK, { input: FLOOD, sessionId: 'flooded' })
  const trickle = () => post(perdure, TALK, { input: TRICKLE, sessionId: 'bench' })
  return (await listening.hear(TRICKLE.events, trickle)).p99Ms
}

export const deafSockets: BenchCase = {
  id: 'F5D',
  title: `${LISTENING} WebSockets that listen, beside ${DEAF} that read nothing`,
  run: (effort) =>
    inFolder(async (folder) => {
      const perdure = await startPerdure({ folder, env: MANY })
      for (const id of ['bench', 'flooded']) await post(perdure, '/v1/sessions', { id })
      const plan = { url: `ws://127.0.0.1:${perdure.port}/v1/ws`, protocols: PROTOCOLS }
      const listening = await openSockets({ ...plan, sockets: LISTENING, subjects: [SUBJECT] })
      const memory = { floor: [] as number[], subject: [] as number[] }
      try {
        const figures = await alternate(effort.rounds, {
          async floor() {
            const p99 = await lateness(perdure, listening)
            await pause(SETTLING_MS)
            memory.floor.push(perdure.rss() / 2 ** 20)
            return p99
          },
          async subject() {
            const deaf = await openSockets({ ...plan, sockets: DEAF, subjects: [SUBJECT, FLOODED], isDeaf: true })
            const p99 = await lateness(perdure, listening)
            await deaf.close()
            await pause(SETTLING_MS)
            memory.subject.push(perdure.rss() / 2 ** 20)
            return p99
          },
        })
        const note = 'floor: without the deaf ones'
        return [
          { case: 'F5D', variant: 'p99 of the listening', unit: 'ms', ...figures, goal: { atMost: 2 }, note },
          { case: 'F5D', variant: 'memory afterwards', unit: 'MiB', ...memory, goal: { atMost: 1.2 }, note },
        ]
      } finally {
        await listening.close()
        await perdure.stop('SIGKILL')
      }
    }),
}
