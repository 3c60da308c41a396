import { appendFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Conversation, createConversationClient, pause } from './conversation-client.ts'
import { judgeAnswers, judgeFiles, judgeMessages, judgeRuns, judgeTools } from './conversation-judge.ts'
import { type DurableServer, startDurableServer } from './durable-server.ts'
import { clockAhead } from './faked-clock.ts'
import { startServer } from './perdure-process.ts'
import { leftRows } from './stored-conversations.ts'
import { seedOf } from './torture/seed.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/conversation.config.mjs')
const CONVERSATIONS = Number(process.env.E2E_CONVERSATIONS ?? 6)
const LANES = 3
const UPTIME_MS = [20, 600] as const
/** Before every second kill, the agent does so much first, so that slow machines make progress too. */
const LINES = 6
/** Uploads that no session holds are kept for a day, and their contents for an hour more at most. */
const LATER_MS = 26 * 3_600_000

describe('conversations whose server is killed at random moments', () => {
  it('keep each acknowledged message and file exactly once, and leave nothing when they are deleted', async () => {
    const seed = seedOf()
    const server = await startDurableServer(CONFIG)
    const client = createConversationClient(server, seed)
    onTestFinished(() => client.end())
    const { violations } = client

    const [conversations, kills] = await converse(server, client)
    for (const conversation of conversations) await client.finish(conversation)

    const judged = { client, ledger: server.ledger() }
    let asked = 0
    for (const conversation of conversations) {
      await judgeMessages(judged, conversation)
      await judgeRuns(judged, conversation)
      asked += judgeAnswers(judged, conversation)
    }
    const repeated = judgeTools(judged)
    await judgeFiles(judged, new Set())

    const runIds = conversations.flatMap(({ sent }) => sent.map(({ runId }) => runId))
    const half = conversations.filter((_, index) => index % 2 === 0)
    const rest = conversations.filter((one) => !half.includes(one))
    const remove = ({ chat }: Conversation) => client.keyed({ method: 'DELETE', path: `/sessions/${chat}` }, [204])
    await Promise.all([kill(server), ...half.map(remove)])
    await judgeFiles(judged, new Set(half.map(({ chat }) => chat)))
    await Promise.all([kill(server), ...rest.map(remove)])
    await judgeFiles(judged, new Set(conversations.map(({ chat }) => chat)))
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    await sweep(server)
    violations.push(...(await leftRows(server.sandbox, runIds)))

    const sent = conversations.flatMap((conversation) => conversation.sent)
    console.log(
      `${kills + 2} kills, ${conversations.length} conversations, ${sent.length} messages ` +
        `(${sent.filter(({ isWithdrawn }) => isWithdrawn).length} withdrawn), ${client.stored.length} uploads, ` +
        `${asked} questions and ${repeated} effects repeated`,
    )
    expect(violations).toEqual([])
  })
})

type Client = ReturnType<typeof createConversationClient>

/** Kills the server, and notes it between the lines of the ledger before and after. */
async function kill(server: DurableServer): Promise<void> {
  await server.kill('SIGKILL')
  appendFileSync(server.sandbox.env.E2E_LEDGER ?? '', 'kill\n')
  await server.start()
}

/** Holds the conversations while the server is killed again and again. */
async function converse(server: DurableServer, client: Client): Promise<readonly [readonly Conversation[], number]> {
  const conversations: Conversation[] = []
  let next = 0
  let isDone = false
  const lane = async () => {
    while (next < CONVERSATIONS) conversations.push(await client.converse(`c${++next}`))
  }
  const lanes = Promise.all(Array.from({ length: LANES }, lane)).finally(() => {
    isDone = true
  })
  lanes.catch(() => undefined)
  let kills = 0
  while (!isDone) {
    const before = server.ledger().length
    await pause(client.between(...UPTIME_MS))
    while (kills % 2 === 1 && server.ledger().length < before + LINES && !isDone) await pause(10)
    if (isDone) break
    await kill(server)
    kills++
  }
  await lanes
  return [conversations, kills]
}

/** Starts the server when all grace periods are over. Its first sweep is at the start. */
async function sweep({ sandbox }: DurableServer): Promise<void> {
  const server = await startServer(clockAhead(sandbox, LATER_MS), ['server', '--config', CONFIG])
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const folder = join(sandbox.dir, 'files')
  const files = () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  await expect.poll(() => files().map(({ name }) => name)).toEqual([])
  expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
}
