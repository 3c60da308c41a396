import { join } from 'node:path'
import { BINARY, JSON_HEADERS } from '../harness/perdure.ts'
import { alternate, type Comparison } from '../harness/rounds.ts'
import { inFolder, type ServerProcess, startProcess } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'

const CONFIG = join(import.meta.dirname, '../conversation.config.mjs')
const TURNS = 1_000
const FILES = 200
/** The size of a small photo, which is stored beside the database. */
const FILE_BYTES = 80_000
/** Bounds what V8 leaves uncollected, as docs/guides/performance.md recommends. */
const BOUNDED = '--max-semi-space-size=16 --max-old-space-size=512'
const WARM_UP = 20
/** The system counts processor time in parts of 10 ms. */
const TIMES = 5

const start = (folder: string): Promise<ServerProcess> =>
  startProcess({
    args: [BINARY, 'server', '--config', CONFIG],
    env: { PERDURE_STORAGE_PATH: join(folder, 'data.db'), NODE_OPTIONS: BOUNDED },
  })

/** A chat as its page uses it. */
function chatOn({ port }: ServerProcess, id: string) {
  const url = `http://127.0.0.1:${port}/v1/agents/chat/chat`
  const take = async (response: Response): Promise<number> => {
    const { byteLength } = await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`${response.url} answered ${response.status}`)
    return byteLength
  }
  return {
    open: async () => take(await fetch(`${url}/${id}/messages`)),
    async send(turn: number, file?: Uint8Array) {
      const text = { type: 'text', text: `Message ${turn} of ${id}, as long as messages of people are.` }
      const data = file === undefined ? undefined : `data:image/png;base64,${Buffer.from(file).toString('base64')}`
      const parts = data === undefined ? [text] : [text, { type: 'file', mediaType: 'image/png', url: data }]
      const body = JSON.stringify({ id, messages: [{ id: `${id}-${turn}`, role: 'user', parts }] })
      await take(await fetch(url, { method: 'POST', headers: JSON_HEADERS, body }))
    },
  }
}

/** Different contents, so that each is stored. */
function photo(turn: number): Uint8Array {
  const bytes = new Uint8Array(FILE_BYTES).fill(turn % 251)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  new DataView(bytes.buffer).setUint32(8, turn)
  return bytes
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

async function measure(folder: string, turns: number, rounds: number): Promise<readonly Comparison[]> {
  const filling = await start(folder)
  const filled = chatOn(filling, 'long')
  const every = TURNS / FILES
  for (let turn = 0; turn < turns; turn++) await filled.send(turn, turn % every === 0 ? photo(turn) : undefined)
  await filling.stop()

  const server = await start(folder)
  const [long, short] = [chatOn(server, 'long'), chatOn(server, 'short')]
  let next = turns
  const send = (chat: typeof long) => timed(() => chat.send(next++))
  /** The cost of the server itself: the model answers at once, and other load on the machine does not count. */
  const cpuOf = async (work: () => Promise<unknown>) => {
    const before = server.cpuMicros()
    for (let time = 0; time < TIMES; time++) await work()
    return (server.cpuMicros() - before) / TIMES / 1_000
  }
  try {
    for (let turn = 0; turn < WARM_UP; turn++) await send(short)
    for (let turn = 0; turn < WARM_UP; turn++) await short.open()
    const before = server.rss()
    const bytes = await long.open()
    await send(long)
    const opened = server.rss()
    const variant = `${turns} turns, ${Math.ceil(turns / every)} files`
    const note = `${Math.round(bytes / 1_024)} KiB page`
    const open = await alternate(rounds * 3, { floor: () => timed(short.open), subject: () => timed(long.open) })
    const turn = await alternate(rounds, {
      floor: () => cpuOf(() => send(short)),
      subject: () => cpuOf(() => send(long)),
    })
    const mib = (rss: number) => rss / 1_048_576
    const growth = mib(opened - before)
    return [
      { case: 'F22', variant: `open the page, ${variant}`, unit: 'ms', ...open, goal: { below: 150 }, note },
      { case: 'F22', variant: `next turn, ${variant}`, unit: 'ms CPU', ...turn, goal: { below: 50 } },
      {
        ...{ case: 'F22', variant: `memory of both, ${variant}`, unit: 'MiB', goal: { below: 8 } },
        ...{ floor: [mib(before)], subject: [growth], note: 'floor: before; subject: added' },
      },
    ]
  } finally {
    await server.stop()
  }
}

/** A page reads the newest turns, and the model gets the newest 100. The floor is a chat of some 20 turns without files. */
export const longConversation: BenchCase = {
  id: 'F22',
  title: 'a long conversation with files, against a short one',
  run: ({ rounds, isQuick }) => inFolder((folder) => measure(folder, isQuick ? TURNS / 4 : TURNS, rounds)),
}
