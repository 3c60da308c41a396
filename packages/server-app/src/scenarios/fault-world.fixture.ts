import { nodeDigest } from '@perdure/platform-node'
import type { Logger, Storage } from '@perdure/ports'
import { createManualClock, createRandom, createSequenceIds } from '@perdure/testkit'
import { openTokenAdmin } from '../start/token-admin.ts'
import { problemOf, read, type Seen, type SeenBody } from './fault-answer.fixture.ts'
import { expectSoundStorage } from './fault-invariants.fixture.ts'
import { createMachine, FAULTY_CONFIG, type FaultOptions, type Machine, turn } from './fault-machine.fixture.ts'
import { ASKED_OPERATIONS, type Asked, createRequests, type Known, nothingKnown } from './fault-requests.fixture.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** A request and all its answers. */
interface Story {
  readonly asked: Asked
  readonly answers: Seen[]
}

/** A server without a listener, clients that retry, and a storage that injects faults. */
export async function createFaultWorld(storage: Storage, options: FaultOptions) {
  const clock = createManualClock()
  const around = { storage, clock, ids: createSequenceIds(), effects: [] as string[], errors: [] as string[] }
  const random = createRandom(options.seed)
  const known = nothingKnown()
  const requestOf = createRequests(random, known)
  const stories: Story[] = []
  const problems: string[] = []
  const seen = new Set<string>()
  const injections: number[] = []
  const { ids } = around
  const admin = await openTokenAdmin(FAULTY_CONFIG, { adapters: { storage, clock, ids, digest: nodeDigest, logger } })
  const { token } = await admin.mint({ name: 'admin', scopes: ['admin:*'] })

  /** Advances the event loop and the clock until the condition holds; false if the condition never holds. */
  const until = async (condition: () => boolean, turns = 20_000): Promise<boolean> => {
    for (let n = 0; !condition(); n++) {
      if (n === turns) return false
      await turn()
      if (n % 4 === 3) clock.advance(25)
    }
    return true
  }
  const pass = (turns: number) => until(() => false, turns)

  /** Starts processes until one is ready: the faults can crash a process during its start. */
  const boot = async (): Promise<Machine> => {
    for (let tries = 0; ; tries++) {
      const machine = createMachine(around, { ...options, seed: options.seed * 1_000 + injections.length })
      const { injected } = machine.faults
      injections.push(0)
      let end: 'ready' | 'refused' | undefined
      machine.start().then(
        () => {
          end = 'ready'
        },
        () => {
          end = 'refused'
        },
      )
      if (tries > 20) machine.faults.stop()
      if (!(await until(() => end !== undefined || machine.isDead()))) throw new Error('the server never starts')
      injections[injections.length - 1] = sum(injected.values())
      if (end === 'ready' && !machine.isDead()) return machine
      machine.end()
      await machine.released()
    }
  }
  let machine = await boot()

  const revive = async () => {
    injections[injections.length - 1] = sum(machine.faults.injected.values())
    if (!machine.isDead()) return
    await machine.released()
    machine = await boot()
  }

  const get = async (method: string, path: string, body?: object): Promise<Seen> => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const request = new Request(`http://127.0.0.1:8080/v1${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    })
    let answer: Seen | undefined
    void machine.fetch(request).then(async (response) => {
      answer = await read(response)
    })
    await until(() => answer !== undefined)
    return answer ?? { status: 0, json: {} }
  }

  const ask = async ({ asked, answers }: Story): Promise<void> => {
    const { operation, path, body, key, headers } = asked
    const request = new Request(`http://127.0.0.1:8080${path}`, {
      method: operation.method,
      headers: {
        ...{ Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        ...headers,
        ...(key === undefined ? {} : { 'Idempotency-Key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const asking = machine
    const answer = await read(await asking.fetch(request)).catch(() => undefined)
    // The answer of a crashed process is lost, and so is an answer that broke off.
    if (asking.isDead() || answer === undefined) return
    answers.push(answer)
    seen.add(operation.id)
    const problem = problemOf(operation, answer)
    if (problem !== undefined) problems.push(problem)
    learn(operation.id, answer)
  }

  const learn = (id: string, { status, json }: Seen) => {
    if (status >= 300) return
    known.approval.push(...idsOf(json.approvals))
    if (json.runId !== undefined) known.run.push(json.runId)
    const kind = KINDS[id]
    if (kind !== undefined) known[kind].push(...(json.id === undefined ? idsOf(json.items) : [json.id]))
  }

  /**
   * Sends all requests at once. Reports a problem if a request stays unanswered although the process has not crashed.
   */
  const askAll = async (group: readonly Story[]): Promise<void> => {
    let open = group.length
    for (const story of group) void ask(story).finally(() => open--)
    const isOver = await until(() => open === 0 || machine.isDead())
    if (!isOver) problems.push(`never answered: ${group.map(({ asked }) => asked.operation.id).join(', ')}`)
  }

  const isUnanswered = ({ asked: { key, operation }, answers }: Story) =>
    key !== undefined && !answers.some(({ status }) => status < 500) && operation.refused !== true

  return {
    seen,
    injected: () => sum(injections) + sum(machine.faults.injected.values()),
    deaths: () => injections.length - 1,
    async attack({ rounds, together }: { readonly rounds: number; readonly together: number }) {
      for (let round = 0; round < rounds; round++) {
        const order = shuffled(ASKED_OPERATIONS, random)
        for (let start = 0; start < order.length; start += together) {
          const group = order.slice(start, start + together).map((operation) => ({
            asked: requestOf(operation),
            answers: [],
          }))
          stories.push(...group)
          // Some clients retry before they have an answer; some retry an old request.
          const again = stories.filter(({ asked }) => asked.key !== undefined && random() < 2 / stories.length)
          await askAll([...group, ...again, ...group.filter(({ asked }) => asked.key !== undefined && random() < 0.2)])
          await revive()
          await pass(Math.floor(random() * 8))
          await revive()
        }
      }
    },
    /** Stops the faults, retries every unanswered request, and gives all work time to finish. */
    async recover() {
      await revive()
      machine.faults.stop()
      await pass(2_000)
      for (const story of stories.filter(isUnanswered)) await askAll([story])
      await pass(4_000)
    },
    async expectSound() {
      for (const story of stories.filter(isUnanswered)) {
        problems.push(`not answered in the end: ${story.asked.operation.id} ${JSON.stringify(story.answers.at(-1))}`)
      }
      for (const agentId of ['plain', 'streams', 'single', 'queued']) {
        const { status, json } = await get('POST', `/agents/${agentId}/run`, { input: {} })
        const idle = (await get('GET', `/agents/${agentId}/state`)).json as { running?: number; queued?: number }
        if (status !== 200 || json.status !== 'completed') problems.push(`${agentId} fails: ${status}`)
        if (idle.running !== 0 || idle.queued !== 0) problems.push(`${agentId} is busy: ${JSON.stringify(idle)}`)
      }
      problems.push(...around.errors.filter((error) => error.startsWith('undeclared error')))
      await expectSoundStorage({ around, stories, problems })
    },
  }
}

const idsOf = (items: SeenBody['items'] = []) => items.map(({ id }) => id)

/** The kind of resource that an operation creates or lists. */
const KINDS: Readonly<Record<string, keyof Known | undefined>> = {
  'approvals.list': 'approval',
  'memory.list-conflicts': 'conflict',
  'memory.create-fact': 'fact',
  'tokens.create': 'token',
  'triggers.create': 'trigger',
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((a, b) => a + b, 0)

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
