import type { Storage } from '@perdure/ports'
import fc from 'fast-check'
import { expect } from 'vitest'
import {
  type Answer,
  createIdempotencyWorld,
  type Death,
  type IdempotencyWorld,
  TTL_MS,
} from './idempotency-world.fixture.ts'

const SUBJECTS = ['alice', 'bob'] as const
const ROUTES = ['run', 'stream', 'mint', 'event', 'held', 'single'] as const
type Route = (typeof ROUTES)[number]

interface Target {
  readonly subject: string
  readonly route: Route
  readonly key: string
  readonly version: number // of the body
}

type Step =
  | { readonly kind: 'send'; readonly target: Target }
  | { readonly kind: 'together'; readonly target: Target; readonly times: number }
  | { readonly kind: 'hold'; readonly target: Target }
  | { readonly kind: 'release'; readonly target: Target }
  | { readonly kind: 'busy'; readonly target: Target }
  | { readonly kind: 'storage-busy'; readonly target: Target }
  | { readonly kind: 'die'; readonly target: Target; readonly death: Death }
  | { readonly kind: 'crash' }
  | { readonly kind: 'rotate'; readonly subject: string }
  | { readonly kind: 'advance'; readonly ms: number }

const targetOf = (...routes: Route[]): fc.Arbitrary<Target> =>
  fc.record({
    subject: fc.constantFrom(...SUBJECTS),
    route: fc.constantFrom(...routes),
    key: fc.constantFrom('k1', 'k2'),
    version: fc.constantFrom(1, 1, 1, 2),
  })

const plain = targetOf('run', 'stream', 'mint', 'event')
const death: fc.Arbitrary<Death> = fc.record({
  atCommit: fc.integer({ min: 0, max: 4 }),
  when: fc.constantFrom('before' as const, 'after' as const),
})

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: plain.map((target) => ({ kind: 'send' as const, target })) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('together' as const),
      target: plain,
      times: fc.integer({ min: 2, max: 6 }),
    }),
  },
  { weight: 4, arbitrary: targetOf('held').map((target) => ({ kind: 'hold' as const, target })) },
  { weight: 3, arbitrary: targetOf('held').map((target) => ({ kind: 'release' as const, target })) },
  { weight: 1, arbitrary: targetOf('single').map((target) => ({ kind: 'busy' as const, target })) },
  { weight: 1, arbitrary: plain.map((target) => ({ kind: 'storage-busy' as const, target })) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('die' as const), target: plain, death }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
  { weight: 1, arbitrary: fc.constantFrom(...SUBJECTS).map((subject) => ({ kind: 'rotate' as const, subject })) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(1, TTL_MS / 2, TTL_MS - 1, TTL_MS).map((ms) => ({ kind: 'advance' as const, ms })),
  },
)

/** What the model knows about a key: its request is executing, or was answered with these bytes. */
interface Known {
  readonly version: number
  readonly createdAt: number
  readonly pending?: Promise<Answer> | undefined
  /** `undefined` if the process crashed before the client received the answer. */
  readonly seen?: { readonly status: number; readonly text: string } | undefined
}

const PATHS: Readonly<Record<Route, string>> = {
  run: '/agents/echo/run',
  stream: '/agents/echo/stream',
  mint: '/tokens',
  event: '/events/ping',
  held: '/agents/held/run',
  single: '/agents/single/run',
}
const STATUS: Readonly<Record<Route, number>> = { run: 200, stream: 202, mint: 201, event: 202, held: 200, single: 200 }

const inputOf = ({ subject, route, key, version }: Target) => ({ subject, route, key, version })

function bodyOf(target: Target): unknown {
  if (target.route === 'mint') return { name: `n${target.version}`, scopes: ['agents:read'] }
  return target.route === 'event' ? { payload: inputOf(target) } : { input: inputOf(target) }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns++) {
    if (turns > 10_000) throw new Error('the condition never became true')
    await turn()
  }
}

/** Runs the steps of a script against the server and checks every answer against the model. */
export function createIdempotencyModel(world: IdempotencyWorld) {
  const known = new Map<string, Known>()
  const effects = new Map<string, number>()
  let tokens = SUBJECTS.length

  const idOf = ({ subject, route, key }: Target) => `${subject} ${route} ${key}`
  const send = (target: Target) =>
    world.send(target.subject, PATHS[target.route], { key: target.key, body: bodyOf(target) })
  const effectsOf = (target: Target) => world.ledger.filter((line) => line === JSON.stringify(inputOf(target))).length

  const live = (target: Target): Known | undefined => {
    const record = known.get(idOf(target))
    const isLive =
      record !== undefined && (record.pending !== undefined || world.clock.now() < record.createdAt + TTL_MS)
    return isLive ? record : undefined
  }

  const executed = (target: Target, answer: Answer) => {
    known.set(idOf(target), { version: target.version, createdAt: world.clock.now(), seen: answer })
    countEffect(target)
  }
  const countEffect = (target: Target) => {
    if (target.route === 'mint') tokens += 1
    else if (target.route !== 'event') {
      const line = JSON.stringify(inputOf(target))
      effects.set(line, (effects.get(line) ?? 0) + 1)
    }
  }

  /** Checks the answer to a request that repeats a known key. */
  const expectAgain = (target: Target, record: Known, answer: Answer) => {
    if (record.version !== target.version)
      return expect(answer).toMatchObject({ status: 409, error: 'idempotency-conflict' })
    if (record.pending !== undefined) {
      expect(answer).toMatchObject({
        status: 409,
        error: 'idempotency-in-flight',
        retryAfter: expect.stringMatching(/^[1-9]\d*$/),
      })
      return
    }
    expect(answer.isReplayed).toBe(true)
    if (record.seen !== undefined) expect(answer).toMatchObject({ status: record.seen.status, text: record.seen.text })
    else known.set(idOf(target), { ...record, seen: answer })
  }
  const expectFresh = (target: Target, answer: Answer) =>
    expect(answer, answer.text).toMatchObject({ status: STATUS[target.route], isReplayed: false })

  const steps: { readonly [Kind in Step['kind']]: (step: Extract<Step, { kind: Kind }>) => Promise<void> } = {
    async send({ target }) {
      const record = live(target)
      const answer = await send(target)
      if (record !== undefined) return void expectAgain(target, record, answer)
      expectFresh(target, answer)
      executed(target, answer)
    },
    async together({ target, times }) {
      const record = live(target)
      const answers = await Promise.all(Array.from({ length: times }, () => send(target)))
      if (record !== undefined) {
        for (const answer of answers) expectAgain(target, record, answer)
        return
      }
      const fresh = answers.filter(({ status, isReplayed }) => status === STATUS[target.route] && !isReplayed)
      expect(fresh).toHaveLength(1)
      for (const answer of answers) {
        if (answer === fresh[0]) continue
        if (answer.isReplayed) expect(answer.text).toBe(fresh[0]?.text)
        else expect(answer).toMatchObject({ status: 409, error: 'idempotency-in-flight' })
      }
      executed(target, fresh[0] as Answer)
    },
    async hold({ target }) {
      const record = live(target)
      if (record !== undefined) return void expectAgain(target, record, await send(target))
      const pending = send(target)
      await until(() => world.holds(inputOf(target)))
      known.set(idOf(target), { version: target.version, createdAt: world.clock.now(), pending })
      countEffect(target)
    },
    async release({ target }) {
      const record = known.get(idOf(target))
      if (record?.pending === undefined) return
      world.release(inputOf({ ...target, version: record.version }))
      const seen = await record.pending
      expectFresh(target, seen)
      known.set(idOf(target), { ...record, pending: undefined, seen })
    },
    async busy({ target }) {
      const record = live(target)
      const blocker = { subject: target.subject, blocks: true }
      const blocking = world.send(target.subject, PATHS.single, { body: { input: blocker } })
      await until(() => world.holds(blocker))
      for (let times = 0; times < 2; times++) {
        const answer = await send(target)
        if (record !== undefined) expectAgain(target, record, answer)
        else expect(answer).toMatchObject({ status: 409, error: 'agent-busy' })
      }
      world.release(blocker)
      expect((await blocking).status).toBe(200)
      if (record !== undefined) return
      const sending = send(target)
      await until(() => world.holds(inputOf(target)))
      world.release(inputOf(target))
      const answer = await sending
      expectFresh(target, answer)
      executed(target, answer)
    },
    async 'storage-busy'({ target }) {
      if (live(target) !== undefined) return
      world.failNextCommit()
      expect((await send(target)).status).toBe(503)
    },
    async die({ target, death: when }) {
      if (live(target) !== undefined) return
      const before = effectsOf(target)
      world.dieAt(when)
      const answered = send(target).then((answer) => ({ answer }))
      let isAnswered = false
      const died = until(() => isAnswered || !world.isAlive()).then(() => ({ answer: undefined }))
      const { answer } = await Promise.race([answered, died])
      isAnswered = true
      world.dieAt(undefined)
      await steps.crash({ kind: 'crash' })
      const again = await send(target)
      expect(again.status, again.text).toBe(STATUS[target.route])
      // An answer that the client received is stored; a lost answer may or may not be stored.
      if (answer !== undefined) expect(again).toMatchObject({ isReplayed: true, text: answer.text })
      expect(effectsOf(target) - before).toBeLessThanOrEqual(1)
      known.set(idOf(target), { version: target.version, createdAt: world.clock.now(), seen: again })
      if (target.route === 'mint') tokens += 1
      const line = JSON.stringify(inputOf(target))
      await turn()
      effects.set(line, (effects.get(line) ?? 0) + effectsOf(target) - before)
    },
    async crash() {
      await turn()
      await world.crash()
      for (const [id, record] of known)
        if (record.pending !== undefined) known.set(id, { ...record, pending: undefined })
    },
    async rotate({ subject }) {
      await world.rotate(subject)
      tokens += 1
    },
    async advance({ ms }) {
      world.clock.advance(ms)
    },
  }

  return {
    run: (one: Step) => (steps[one.kind] as (step: Step) => Promise<void>)(one),
    async check() {
      for (let turns = 0; turns < 5; turns++) await turn()
      const lines = world.ledger.filter((line) => !line.includes('"blocks"'))
      const counts = new Map<string, number>()
      for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
      expect(Object.fromEntries(counts)).toEqual(Object.fromEntries([...effects].filter(([, count]) => count > 0)))
      expect(await world.tokens()).toBe(tokens)
    },
  }
}

/**
 * Runs random scripts of requests, crashes, token rotations and clock advances. After each script, every key must have
 * had its effects exactly once.
 */
export async function checkIdempotency(
  open: () => Promise<Storage>,
  options: { readonly numRuns: number; readonly seed?: number },
) {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (script) => {
      const storage = await open()
      try {
        const model = createIdempotencyModel(await createIdempotencyWorld(storage))
        for (const one of script) await model.run(one)
        await model.check()
      } finally {
        await storage.close()
      }
    }),
    options,
  )
}
