import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually, type Shown, startDurableServer } from './durable-server.ts'

const ONE_SLOT = join(import.meta.dirname, 'fixtures/one-slot.config.mjs')
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

  it('interrupts a turn that waits for a slot of the server, also when the server is killed', async () => {
    const server = await startDurableServer(ONE_SLOT)
    const start = async (agentId: string, body: object) =>
      (await server.post(`/agents/${agentId}/run`, body, { prefer: 'respond-async' })).body.runId
    const turns = async () =>
      (await server.itemsOf<Shown>('/runs?sessionId=ses-2&order=asc')).map(({ status }) => status)
    const first = await start('chat', { input: 'first', sessionId: 'ses-2' })
    await eventually(turns).toEqual(['suspended'])
    await start('work', { input: null })
    const [approval] = await server.itemsOf<Shown>(`/approvals?status=pending&runId=${first}`)
    await server.post(`/approvals/${approval?.id}/resolve`, { approved: true })
    await eventually(turns).toEqual(['queued'])

    await start('chat', { input: 'second', sessionId: 'ses-2' })
    await server.kill('SIGKILL')
    await server.start()
    await eventually(async () => (await turns())[0]).toBe('aborted')

    writeFileSync(join(dirname(server.sandbox.env.E2E_LEDGER ?? ''), 'gate'), '')
    await eventually(turns).toEqual(['aborted', 'completed'])
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
