import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Storage } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { createSessionWorld } from '../sessions/sessions.fixture.ts'
import type { ChatInput } from '../targets/chat-input.ts'
import type { OnBusy } from '../targets/registration.ts'
import type { RunContext, StartOptions } from '../targets/run-context.ts'
import { agentOf, gate, outcomeOf, untilIdle } from './test-engine.fixture.ts'

const LIMITS = { maxResultBytes: 4_000, maxEventBytes: 2_000 }

interface Over {
  readonly storage?: Storage
  readonly onBusy?: OnBusy
  readonly options?: StartOptions
  readonly digest?: (input: unknown, context: RunContext) => unknown
}

const textOf = (input: unknown) => (typeof input === 'string' ? input : (input as ChatInput).text)

/** An agent that starts the agent `digest` in the background when it is asked to, and answers each message. */
export function startingWorld({ onBusy = 'queue', options = { onEnd: 'message' }, digest, ...over }: Over = {}) {
  const shared = {
    storage: over.storage ?? createInMemoryStorage(),
    clock: createManualClock(),
    ids: createSequenceIds(),
  }
  const asked: string[] = []
  const work = gate<unknown>()
  const held = gate()
  let digests = 0
  const chat = agentOf(
    'chat',
    async (input, context) => {
      const text = textOf(input)
      asked.push(text)
      if (text === 'digest') return context.start('digest', { text: 'long' }, options)
      if (text !== 'hold') return `answered: ${text}`
      await held.promise
      const more = await context.session?.takeMessages({ steering: true })
      return more?.map(({ content }) => textOf(content))
    },
    { concurrency: 'session', onBusy, onCrash: 'retry' },
  )
  const run = (input: unknown, context: RunContext) => {
    digests++
    return digest === undefined ? work.promise : digest(input, context)
  }
  const agents = [chat, agentOf('digest', run, { onCrash: 'retry' })]
  const open = (storage = shared.storage) =>
    createSessionWorld({ ...shared, storage, agents, createSessionOnInvoke: true, ...LIMITS })
  const world = open()
  const send = async (input: string, sessionId: string | undefined = 'ada') => {
    const reply = await world.run('chat', { body: { input, sessionId }, answer: 'accepted' })
    await untilIdle(world.clock)
    return outcomeOf(reply).runId
  }
  const runsOf = async (targetId: string) =>
    (await shared.storage.runs.list({ targetId }, { limit: 20, order: 'asc' }, EVERY_ROW)).items
  return { ...world, asked, work, held, send, runsOf, open, digests: () => digests }
}
