import { createInMemoryBlobStore, createInMemoryStorage } from '@perdure/in-memory'
import { nodeDigest, systemClock } from '@perdure/platform-node'
import { type Clock, plusMs } from '@perdure/ports'
import { createServer, type PerdureServer } from '@perdure/server-app'
import { jsonSchema, tool } from 'ai'
import { chatAgent } from '../chat-agent.ts'
import { cutAfter } from '../cut-storage.fixture.ts'
import { QUIET } from '../server.fixture.ts'
import { scriptedModel } from '../testing.ts'
import { createChanges } from './changes.fixture.ts'
import { mortalTimers } from './mortal-timers.fixture.ts'
import { type Call, initOf, type Reply, type World } from './server-world.fixture.ts'
import { shopAgent } from './shop.fixture.ts'

/** One process of the server. */
interface Process {
  readonly server: PerdureServer
  readonly isCut: Promise<void>
  readonly held: Set<string>
  readonly endTimers: () => void
}

/** A server in memory, whose process dies right after a commit, before anybody gets the answer of the commit. */
export const openMemoryWorld = (compacts: boolean) => openWorld(compacts, createInMemoryStorage())

export async function openWorld(
  compacts: boolean,
  storage: ReturnType<typeof createInMemoryStorage>,
): Promise<World & { stop(): Promise<void> }> {
  const prompts: (readonly string[])[] = []
  const effects: string[] = []
  const released = new Map<string, PromiseWithResolvers<void>>()
  const gateOf = (text: string) => {
    const gate = released.get(text) ?? Promise.withResolvers<void>()
    released.set(text, gate)
    return gate
  }
  const { note, noteCommits, until } = createChanges()
  const whole = noteCommits(storage)
  let aheadMs = 0
  const clock: Clock = { ...systemClock, now: () => plusMs(systemClock.now(), aheadMs) }
  const blobs = createInMemoryBlobStore({ clock, digest: nodeDigest })
  let kills = 0
  let dying: ReturnType<typeof cutAfter>
  let starting: Promise<Process> | undefined

  const begin = async (): Promise<Process> => {
    const cut = cutAfter(whole, Number.POSITIVE_INFINITY)
    dying = cut
    void cut.isCut.then(note)
    const held = new Set<string>()
    const isLive = () => dying === cut && !cut.hasEnded()
    const agent = shopAgent({
      ...{ chatAgent, scriptedModel, tool, jsonSchema, compacts },
      onPrompt: (lines) => void (isLive() && prompts.push(lines)),
      onEffect: (text) => void (isLive() && effects.push(text)),
      async released(text) {
        held.add(text)
        note()
        await gateOf(text).promise
      },
    })
    const { end: endTimers, ...timers } = mortalTimers()
    const server = await createServer({
      config: { auth: { kind: 'none' }, server: { rateLimit: { perIpRequests: 1_000_000 } } },
      adapters: { storage: cut.storage, blobs, clock, timers, logger: QUIET },
      agents: [agent],
    })
    await server.start({ listen: false })
    return { server, isCut: cut.isCut, held, endTimers }
  }

  const live = async (): Promise<Process> => {
    starting ??= begin()
    const process = await starting
    if (!dying.hasEnded()) return process
    kills++
    process.endTimers()
    void process.server.stop({ force: true }).catch(() => undefined)
    starting = begin()
    return starting
  }

  const send = async ({ server }: Process, call: Call): Promise<Reply> => {
    const { path, isStream } = call
    const response = await server.fetch(new Request(`http://localhost/v1${path}`, initOf(call)))
    const runId = response.headers.get('x-perdure-run-id') ?? ''
    if (isStream === true && response.ok) {
      await response.body?.cancel()
      return { status: response.status, runId, bytes: new Uint8Array() }
    }
    return { status: response.status, runId, bytes: new Uint8Array(await response.arrayBuffer()) }
  }

  await live()
  return {
    async call(call) {
      for (;;) {
        const process = await live()
        const answer = send(process, call)
        answer.catch(() => undefined)
        const reply = await Promise.race([answer, process.isCut])
        if (reply !== undefined) return reply
      }
    },
    killSoon(commits) {
      kills = 0
      dying.endAfter(commits)
    },
    async surviveFromNow() {
      await dying.spare()
      await live()
      const counted = kills
      kills = 0
      return counted
    },
    prompts: () => prompts,
    effects: () => effects,
    untilHeld: (text) => until(async () => (await live()).held.has(text)),
    release: (text) => gateOf(text).resolve(),
    until,
    async elapse(ms) {
      aheadMs += ms
    },
    async stop() {
      await (await live()).server.stop({ force: true })
    },
  }
}
