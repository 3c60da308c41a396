import { describe, expect, it } from 'vitest'
import { eventually, type Shown, startDurableServer } from './durable-server.ts'

const POSTS = 50
const KILL_AFTER = 15

describe('a session with queued runs', () => {
  it('executes its runs one at a time in creation order, and loses none when the server is killed', async () => {
    const server = await startDurableServer()
    const answers = await Promise.all(
      Array.from({ length: POSTS }, (_, number) =>
        server.post('/agents/serial/run', { input: { number }, sessionId: 'ses-1' }, { prefer: 'respond-async' }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(POSTS).fill(202))
    const runIds = answers.map(({ body }) => body.runId)
    expect(new Set(runIds).size).toBe(POSTS)
    const ended = () => server.ledger().filter((line) => line.startsWith('end ')).length
    await eventually(ended).toBeGreaterThanOrEqual(KILL_AFTER)
    await server.kill('SIGKILL')
    expect(ended()).toBeLessThan(POSTS)
    await server.start()

    const listed = () => server.itemsOf<Shown>('/runs?sessionId=ses-1&order=asc&limit=200&include=input,result')
    await eventually(async () => (await listed()).filter(({ status }) => status === 'completed').length).toBe(POSTS)

    const created = (await listed()).map(({ id }) => id)
    expect(new Set(created)).toEqual(new Set(runIds))
    expect((await listed()).map(({ result }) => result)).toEqual(created)
    const { turns, interrupted } = readTurns(server.ledger())
    expect(turns).toEqual(created)
    expect(interrupted.length).toBeLessThanOrEqual(1)
  })
})

/** The runs in execution order, and the runs that a kill interrupted. Throws when two runs overlap. */
function readTurns(ledger: readonly string[]) {
  const turns: string[] = []
  const interrupted: string[] = []
  let open: { readonly runId: string; readonly pid: string } | undefined
  for (const line of ledger) {
    const [what, runId = '', pid = ''] = line.split(' ')
    if (what === 'begin') {
      if (open?.pid === pid) throw new Error(`${runId} starts while ${open.runId} executes`)
      if (open !== undefined) interrupted.push(open.runId)
      if (turns.at(-1) !== runId) turns.push(runId)
      open = { runId, pid }
    } else {
      if (open?.runId !== runId || open.pid !== pid) throw new Error(`${runId} ends without a start`)
      open = undefined
    }
  }
  return { turns, interrupted }
}
