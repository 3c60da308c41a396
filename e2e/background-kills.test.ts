import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../packages/testkit/src/random.ts'
import { type DurableServer, type Shown, startDurableServer } from './durable-server.ts'
import { type CommitKiller, createCommitKiller } from './killed-at-commit.ts'
import { seedOf } from './torture/seed.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/background.config.mjs')
const PATIENCE_MS = 60_000

/** `CRASH_POINTS=all` kills after each commit, otherwise after some of them, which the seed chooses. */
const POINTS = process.env.CRASH_POINTS === 'all' ? Number.POSITIVE_INFINITY : 2
/** More commits than a conversation has. */
const NEVER = 1_000

/** How the turn of an agent ends whose background run ends meanwhile, and how the message of that end does. */
const AGENTS = {
  queues: { turn: 'completed', message: 'completed' },
  steers: { turn: 'completed', message: 'joined' },
  interrupts: { turn: 'aborted', message: 'completed' },
} as const

interface Turn extends Shown {
  readonly agentId: string
  readonly metadata: { readonly endedRunId?: string }
}

interface Conversation {
  readonly agentId: keyof typeof AGENTS
  readonly sessionId: string
}

const runsOf = (server: DurableServer, { sessionId }: Conversation) =>
  server.itemsOf<Turn>(`/runs?sessionId=${sessionId}&order=asc&include=input,result`)

const hasEnded = ({ status }: Shown) => ['completed', 'failed', 'aborted'].includes(status)

/** Asks under a key until the server answers, and waits until nothing is left to do. */
async function converse(server: DurableServer, conversation: Conversation): Promise<void> {
  const { agentId, sessionId } = conversation
  const headers = { prefer: 'respond-async', 'idempotency-key': sessionId }
  const { status } = await server.post(`/agents/${agentId}/run`, { input: `digest ${sessionId}`, sessionId }, headers)
  if (status === 409 || status === 503) throw new TypeError('an earlier request is not answered yet')
  expect([200, 202]).toContain(status)
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await pause(10)) {
    const runs = await runsOf(server, conversation)
    if (runs.length >= 3 && runs.every(hasEnded)) return
  }
  throw new Error(`${agentId} ${sessionId} does not end: ${JSON.stringify(await runsOf(server, conversation))}`)
}

/** Kills the server after the nth commit of the conversation, and the next process after one of its own commits. */
async function converseWithKills(
  { server, killer }: { readonly server: DurableServer; readonly killer: CommitKiller },
  conversation: Conversation,
  commits: readonly number[],
) {
  const [first = NEVER, ...more] = commits
  const counted: { readonly commits: number; readonly hasKilled: boolean }[] = []
  const next = [...more, NEVER]
  killer.arm(first)
  const revive = async () => {
    const counts = killer.disarm()
    counted.push(counts)
    if (!counts.hasKilled) throw new Error('the server has ended by itself')
    await server.kill('SIGKILL')
    killer.arm(next.shift() ?? NEVER)
    await server.start().catch(revive)
  }
  const until = performance.now() + 2 * PATIENCE_MS
  for (let isOver = false; !isOver; ) {
    isOver = await converse(server, conversation).then(
      () => true,
      async (error: unknown) => {
        // The client of a killed server gets no other error.
        if (!(error instanceof TypeError)) throw error
        if (performance.now() > until) throw error
        if (killer.peek().hasKilled) await revive()
        else await pause(20)
        return false
      },
    )
  }
  return [...counted, killer.disarm()]
}

async function judge(server: DurableServer, conversation: Conversation): Promise<void> {
  const { agentId, sessionId } = conversation
  const runs = await runsOf(server, conversation)
  const [turn, ...messages] = runs.filter((run) => run.agentId === agentId)
  const started = runs.filter((run) => run.agentId === 'digest')
  expect(started).toMatchObject([{ status: 'completed', result: `digested digest ${sessionId}` }])
  expect(messages).toMatchObject([{ finishReason: AGENTS[agentId].message, metadata: { endedRunId: started[0]?.id } }])
  expect(turn).toMatchObject({ status: AGENTS[agentId].turn })

  const answers = JSON.stringify([turn, ...messages].map((run) => run?.result))
  expect(answers.split(`which this conversation started as ${started[0]?.id}, has completed`)).toHaveLength(2)
  const transcript = await server.itemsOf<{ readonly role: string; readonly content: unknown }>(
    `/sessions/${sessionId}/messages?order=asc`,
  )
  expect(transcript.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
    `digest ${sessionId}`,
    expect.objectContaining({ text: expect.stringContaining(`${started[0]?.id}, has completed`) }),
  ])
}

describe("a run that was started with onEnd: 'message'", () => {
  it('is started once, and its end told once, whichever commit is the last before a kill', async () => {
    const random = createRandom(seedOf())
    const killer = createCommitKiller()
    const server = await startDurableServer(CONFIG, killer.env)
    const conversations: Conversation[] = []
    let kills = 0
    for (const agentId of Object.keys(AGENTS) as readonly (keyof typeof AGENTS)[]) {
      const open = (name: string): Conversation => {
        const conversation = { agentId, sessionId: `${agentId}-${name}` }
        conversations.push(conversation)
        return conversation
      }
      const [quiet] = await converseWithKills({ server, killer }, open('quiet'), [])
      const commits = quiet?.commits ?? 0
      expect(commits).toBeGreaterThan(4)
      const points = Math.min(POINTS, commits)
      for (let point = 0; point < points; point++) {
        const nth = 1 + Math.floor(((point + random()) * commits) / points)
        // The next process resumes what the killed one has left.
        const plan = [nth, 1 + Math.floor(random() * 6)]
        const counted = await converseWithKills({ server, killer }, open(`${nth}-${plan[1]}`), plan)
        kills += counted.filter(({ hasKilled }) => hasKilled).length
      }
    }
    await server.restart()
    for (const conversation of conversations) await judge(server, conversation)

    console.log(`${conversations.length} conversations, ${kills} kills`)
    expect(kills).toBeGreaterThan(conversations.length / 2)
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })
})
