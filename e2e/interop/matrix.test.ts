import { randomInt } from 'node:crypto'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type DurableServer, startDurableServer } from '../durable-server.ts'
import { unusedPort } from '../unused-port.ts'
import { TELLING_CLIENTS } from './matrix-clients.ts'
import { PROTOCOLS_CONFIG } from './openai-client.ts'
import type { Telling, Told } from './told.ts'

/** At how many moments of a run the server is killed. */
const KILLS = Number(process.env.PROTOCOL_KILLS ?? 4)
/** The runs that one kill strikes, each at another moment, and each with another end. */
const ENDS = ['completed', 'failed', 'aborted', 'suspended'] as const
/** As long as the runs take. Milliseconds. */
const RUN_MS = 900

const STORY = `${Array.from({ length: 6 }, (_, n) => `part ${n + 1}. `).join('')}`

/** What the agent tells every client. */
const toldBy = ({ end }: Telling): Required<Told> => ({
  ...{ text: end === 'completed' ? `${STORY}End.` : STORY, tools: ['call_n done'], end },
  approvals: [...(end === 'suspended' ? ['last pending'] : []), 'mail approved', 'refund denied'],
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Lets every client start a run at a moment before the kill, and returns what each of them has in the end. */
async function tellAll(server: DurableServer, telling: Telling) {
  const beforeMs = randomInt(RUN_MS)
  await pause(beforeMs)
  const killed = `${telling.end}, killed after ${RUN_MS - beforeMs} ms`
  return Promise.all(
    Object.entries(TELLING_CLIENTS).map(async ([name, tell]) => {
      const title = `${name}, ${killed}`
      const told = await tell(server, telling).catch((cause: unknown) => {
        throw new Error(title, { cause })
      })
      return { title, told, expected: toldBy(telling) }
    }),
  )
}

/** Aborts the runs that wait to be aborted, until the test stops it. */
function abortWaiting(server: DurableServer): () => void {
  let isOver = false
  const abort = async () => {
    const runs = await server.itemsOf<{ readonly id: string }>('/runs?agentId=teller-aborted&status=suspended')
    for (const { id } of runs) {
      const { body } = await server.get(`/runs/${id}/state`)
      if (body.waitingFor.some(({ kind }) => kind === 'sleep')) await server.post(`/runs/${id}/abort`, {})
    }
  }
  void (async () => {
    for (; !isOver; await pause(100)) await abort().catch(() => undefined)
  })()
  return () => {
    isOver = true
  }
}

describe('a run that is told by every protocol', () => {
  it(
    'has the same text, tools, approvals and end for each client, wherever the server is killed',
    async () => {
      // The client of AG-UI prints every failed request.
      const printed = vi.spyOn(console, 'error').mockReturnValue(undefined)
      onTestFinished(() => printed.mockRestore())
      const server = await startDurableServer(PROTOCOLS_CONFIG, { E2E_PORT: String(await unusedPort()) })
      onTestFinished(abortWaiting(server))
      for (let kill = 0; kill < KILLS; kill += ENDS.length) {
        const telling = ENDS.map((end) => tellAll(server, { end, id: `k${kill}-${end}` }))
        await pause(RUN_MS)
        await server.restart('SIGKILL')
        for (const { title, expected, told } of (await Promise.all(telling)).flat()) {
          const { text = expected.text, tools = expected.tools, approvals, end } = told
          // Protocols differ in what they put between two blocks of text.
          expect({ text: text.replaceAll('\n\n', ''), tools, approvals, end }, title).toEqual(expected)
        }
      }
    },
    30_000 + KILLS * 10_000,
  )
})
